/*@
scratch f32 t[n, n]
let dst = steps % 2 ? out : t, src = steps % 2 ? t : out   // the last write lands in out
if (steps == 0) copy(out, u0)
else heat<<<(ceildiv(n, 32), ceildiv(n, 8)), (32, 8)>>>(u0, dst, n, alpha)
for (i = 1; i < steps; ++i) {
  swap(src, dst)
  heat<<<(ceildiv(n, 32), ceildiv(n, 8)), (32, 8)>>>(src, dst, n, alpha)
}
*/
