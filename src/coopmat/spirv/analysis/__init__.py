"""What a module says, found out of its instructions: types, kernels, control flow, uses of matrices, what it needs."""
