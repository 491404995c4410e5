import torch.nn.functional as F


def run(x, gain, shift, w, bias, mean_run, var_run, momentum, side, dilation):
    mean_next, var_next = mean_run.clone(), var_run.clone()
    v = F.batch_norm(x, mean_next, var_next, gain, shift, training=True, momentum=momentum, eps=1e-5)
    return x + F.conv1d(F.gelu(v), w, bias, padding=side * dilation, dilation=dilation), mean_next, var_next
