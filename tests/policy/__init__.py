"""Tests of policy, waivers and baseline."""
