"""The builder that writes LLVM IR."""
