//@ const TILE = 32, AREA = TILE*TILE
//@ kernel<TILE><<<ceildiv(n, TILE), AREA>>>(c)
