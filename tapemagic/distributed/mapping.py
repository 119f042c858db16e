def map_blocks():
    pass
