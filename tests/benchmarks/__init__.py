"""What the library costs and withstands, measured: `make bench`, `make torn`, `make stress`."""
