"""JupyterLab as a person sees it: real Chromium against a real server, both on this machine only."""
