"""A small GPT."""
import torch
from torch import nn
from torch.nn.functional import cross_entropy, gelu, layer_norm, scaled_dot_product_attention


class Block(nn.Module):
    def __init__(self, qkv, out, up, up_bias, down):
        super().__init__()
        self.qkv = nn.Parameter(qkv)
        self.out = nn.Parameter(out)
        self.up = nn.Parameter(up)
        self.up_bias = nn.Parameter(up_bias)
        self.down = nn.Parameter(down)

    def forward(self, x, heads):
        batch, length, width = x.shape
        qkv = layer_norm(x, [width]) @ self.qkv
        q, k, v = qkv.reshape(batch, length, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
        attention = scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + attention.permute(0, 2, 1, 3).reshape(batch, length, width) @ self.out
        return x + gelu(layer_norm(x, [width]) @ self.up + self.up_bias) @ self.down


class Gpt(nn.Module):
    def __init__(self, tokens, positions, blocks):
        super().__init__()
        self.tokens = nn.Parameter(tokens)
        self.positions = nn.Parameter(positions)
        self.blocks = nn.ModuleList(blocks)

    def forward(self, tokens, heads):
        x = self.tokens[tokens] + self.positions
        for block in self.blocks:
            x = block(x, heads)
        return layer_norm(x, [x.shape[-1]]) @ self.tokens.T


def train(gpt, batches, heads, rate):
    optimizer = torch.optim.AdamW(gpt.parameters(), lr=rate, weight_decay=0.01)
    losses = []
    for batch in batches:
        optimizer.zero_grad()
        scores = gpt(batch[:, :-1], heads)
        loss = cross_entropy(scores.flatten(0, 1), batch[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
