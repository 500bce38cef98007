"""Generic rules that read the policy of the user: drift, required packages, waivers."""
