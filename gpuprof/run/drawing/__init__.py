"""Carries out draws."""
