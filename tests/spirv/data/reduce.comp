#version 450
// A compute shader: what the reader meets in modules made for graphics drivers.
#extension GL_KHR_shader_subgroup_arithmetic : enable
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Data { float values[]; };
layout(set = 0, binding = 1, rgba32f) uniform readonly image2D picture;
shared float partial[4];
layout(constant_id = 3) const int rounds = 2;

void main() {
  uint i = gl_GlobalInvocationID.x;
  float sum = subgroupAdd(max(values[i], 0.0) + sqrt(values[i]));
  for (int r = 0; r < rounds; ++r)
    sum += imageLoad(picture, ivec2(r, int(i))).x;
  if (gl_LocalInvocationIndex % 16 == 0) partial[gl_LocalInvocationIndex / 16] = sum;
  barrier();
  values[i] = partial[i % 4];
}
