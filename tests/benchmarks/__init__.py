"""What the library costs, measured: `make bench` and `make torn`. Not collected by pytest."""
