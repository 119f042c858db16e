"""Dask arrays as the values of tensors: computed later, piece by piece, by any scheduler of Dask's."""
