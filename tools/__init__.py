"""Small tools for the people who keep the house: installing, locking, and one pytest plugin."""
