"""Small matrices become large ones: those of neighbouring work-groups, which then are one work-group."""
