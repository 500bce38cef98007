"""envcheck inside other tools: pytest, notebooks, MLflow. Each is loaded by its tool, or lazily."""
