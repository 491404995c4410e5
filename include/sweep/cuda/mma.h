#error unsupported on device cpu: wmma
