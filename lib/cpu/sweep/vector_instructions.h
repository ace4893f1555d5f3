#pragma once

#include <type_traits>
#include <xbyak/xbyak.h>
#include <xbyak/xbyak_util.h>

#include "core/error.h"
#include "core/functions.h"
#include "tensor/dtype.h"

namespace tpack::cpu {

inline const Xbyak::util::Cpu& processor() {
  static const Xbyak::util::Cpu kCpu;
  return kCpu;
}

/// Emits functions, loads and stores of vectors of floats; V is Zmm (AVX-512) or Ymm (AVX2). With `lanes` 1,
/// memory has one element, and the other lanes of a register have no meaning. Uses the scratch registers, the
/// mask k1 and, to load one element, eax.
template <class V>
class VectorInstructions {
  using Fn = pointwise::Fn;

 public:
  static constexpr bool kIs512 = std::is_same_v<V, Xbyak::Zmm>;
  static constexpr int kLanes = kIs512 ? 16 : 8;
  // The first registers are scratch registers, then constants, then those that a caller may use.
  static constexpr int kScratch = 3;
  enum Constant : int { kOne, kSign, kConstants };
  static constexpr int kFirstFree = kScratch + kConstants;
  static constexpr int kFree = (kIs512 ? 32 : 16) - kFirstFree;

  explicit VectorInstructions(Xbyak::CodeGenerator& generator) : g_(generator) {}

  static V scratch(int i) { return V(i); }
  /// The caller loads 1 into kOne, -0 into kSign.
  static V constant(Constant i) { return V(kScratch + i); }

  /// Whether `apply` has the function.
  static bool has(Fn fn) {
    switch (fn) {
      case Fn::kAdd:
      case Fn::kSub:
      case Fn::kMul:
      case Fn::kDiv:
      case Fn::kMax:
      case Fn::kMin:
      case Fn::kGreater:
      case Fn::kGreaterEqual:
      case Fn::kEqual:
      case Fn::kSelect:
      case Fn::kNeg:
      case Fn::kAbs:
      case Fn::kSqrt:
      case Fn::kRsqrt:
      case Fn::kFloor:
      case Fn::kRound:
      case Fn::kTrunc:
      case Fn::kIsNan:
        return true;
      default:
        return false;
    }
  }

  void load(DType type, const V& to, const Xbyak::RegExp& from, int lanes) {
    lanes == 1 ? load_one(type, to, from) : load_vector(type, to, from);
  }
  void store(DType type, const V& value, const Xbyak::RegExp& to, int lanes) {
    if (type == DType::kBFloat16) return store_bfloat(value, to, lanes);
    if (type == DType::kBool) return store_bool(value, to, lanes);
    lanes == 1 ? g_.vmovss(g_.dword[to], low(value)) : g_.vmovups(g_.ptr[to], value);
  }
  /// Adds the floats to those in memory.
  void add_to(const V& value, const Xbyak::RegExp& to, int lanes) {
    if (lanes == 1) {
      g_.vaddss(low(scratch(0)), low(value), g_.dword[to]);
      g_.vmovss(g_.dword[to], low(scratch(0)));
    } else {
      g_.vaddps(scratch(0), value, g_.ptr[to]);
      g_.vmovups(g_.ptr[to], scratch(0));
    }
  }

  /// As in core/functions.def.
  void apply(Fn fn, const V& to, const V& a, const V& b, const V& c) {
    switch (fn) {
      case Fn::kAdd:
        return g_.vaddps(to, a, b);
      case Fn::kSub:
        return g_.vsubps(to, a, b);
      case Fn::kMul:
        return g_.vmulps(to, a, b);
      case Fn::kDiv:
        return g_.vdivps(to, a, b);
      case Fn::kMax:
        g_.vmaxps(scratch(0), a, b);  // b if one of them is NaN
        return choose(to, a, a, kUnordered, a, scratch(0));
      case Fn::kMin:
        g_.vminps(scratch(0), a, b);
        return choose(to, a, a, kUnordered, a, scratch(0));
      case Fn::kGreater:
        return compare(to, a, b, kGreater);
      case Fn::kGreaterEqual:
        return compare(to, a, b, kGreaterEqual);
      case Fn::kEqual:
        return compare(to, a, b, kEqual);
      case Fn::kSelect:
        g_.vxorps(scratch(0), scratch(0), scratch(0));
        return choose(to, a, scratch(0), kNotEqual, b, c);
      case Fn::kNeg:
        return g_.vxorps(to, a, constant(kSign));
      case Fn::kAbs:
        return g_.vandnps(to, constant(kSign), a);
      case Fn::kSqrt:
        return g_.vsqrtps(to, a);
      case Fn::kRsqrt:
        g_.vsqrtps(scratch(0), a);
        return g_.vdivps(to, constant(kOne), scratch(0));
      case Fn::kFloor:
        return round(to, a, kToFloor);
      case Fn::kRound:
        return round(to, a, kToNearest);
      case Fn::kTrunc:
        return round(to, a, kToZero);
      case Fn::kIsNan:
        return compare(to, a, a, kUnordered);
      default:
        throw InternalError("a function without code");
    }
  }

 private:
  static Xbyak::Xmm low(const V& v) { return Xbyak::Xmm(v.getIdx()); }
  static Xbyak::Ymm half(const V& v) { return Xbyak::Ymm(v.getIdx()); }

  static constexpr uint8_t kEqual = 0x00;
  static constexpr uint8_t kUnordered = 0x03;
  static constexpr uint8_t kNotEqual = 0x04;
  static constexpr uint8_t kGreaterEqual = 0x1D;
  static constexpr uint8_t kGreater = 0x1E;
  static constexpr uint8_t kToNearest = 0x08;
  static constexpr uint8_t kToFloor = 0x09;
  static constexpr uint8_t kToZero = 0x0B;

  void round(const V& to, const V& a, uint8_t how) {
    if constexpr (kIs512) return g_.vrndscaleps(to, a, how);
    g_.vroundps(to, a, how);
  }
  /// to = comparison ? 1 : 0
  void compare(const V& to, const V& a, const V& b, uint8_t how) {
    if constexpr (kIs512) {
      g_.vcmpps(g_.k1, a, b, how);
      g_.vmovaps(to | g_.k1 | g_.T_z, constant(kOne));
    } else {
      g_.vcmpps(to, a, b, how);
      g_.vandps(to, to, constant(kOne));
    }
  }
  /// to = comparison of x and y ? a : b; `to` may be any of them.
  void choose(const V& to, const V& x, const V& y, uint8_t how, const V& a, const V& b) {
    if constexpr (kIs512) {
      g_.vcmpps(g_.k1, x, y, how);
      g_.vblendmps(to | g_.k1, b, a);
    } else {
      g_.vcmpps(scratch(2), x, y, how);
      g_.vblendvps(to, b, a, scratch(2));
    }
  }

  void load_vector(DType type, const V& to, const Xbyak::RegExp& from) {
    switch (type) {
      case DType::kBFloat16:
        g_.vpmovzxwd(to, g_.ptr[from]);
        g_.vpslld(to, to, 16);
        return;
      case DType::kInt32:
        g_.vcvtdq2ps(to, g_.ptr[from]);
        return;
      case DType::kUInt8:
      case DType::kBool:
        g_.vpmovzxbd(to, g_.ptr[from]);
        g_.vcvtdq2ps(to, to);
        return;
      default:
        g_.vmovups(to, g_.ptr[from]);
    }
  }
  void load_one(DType type, const V& to, const Xbyak::RegExp& from) {
    const Xbyak::Xmm x = low(to);
    switch (type) {
      case DType::kBFloat16:
        g_.movzx(g_.eax, g_.word[from]);
        g_.shl(g_.eax, 16);
        g_.vmovd(x, g_.eax);
        return;
      case DType::kInt32:
        g_.vmovd(x, g_.dword[from]);
        g_.vcvtdq2ps(x, x);
        return;
      case DType::kUInt8:
      case DType::kBool:
        g_.movzx(g_.eax, g_.byte[from]);
        g_.vmovd(x, g_.eax);
        g_.vcvtdq2ps(x, x);
        return;
      default:
        g_.vmovss(x, g_.dword[from]);
    }
  }

  /// To nearest, ties to even; NaN stays NaN.
  void store_bfloat(const V& value, const Xbyak::RegExp& to, int lanes) {
    const V x = scratch(0);
    if constexpr (kIs512) {
      if (processor().has(Xbyak::util::Cpu::tAVX512_BF16)) {
        g_.vcvtneps2bf16(half(x), value);
        lanes == 1 ? g_.vpextrw(g_.ptr[to], low(x), 0) : g_.vmovdqu16(g_.ptr[to], half(x));
        return;
      }
    }
    // (bits + 0x7FFF + last bit that stays) >> 16; all numbers are made of the sign bit.
    const V odd = scratch(1);
    const V number = scratch(2);
    g_.vpsrld(x, value, 16);
    g_.vpsrld(odd, constant(kSign), 31);
    g_.vandps(odd, odd, x);                  // the last bit that stays
    g_.vpsrld(number, constant(kSign), 16);  // 0x8000
    g_.vpaddd(odd, odd, number);
    g_.vpsrld(number, constant(kSign), 31);
    g_.vpsubd(odd, odd, number);  // + 0x7FFF
    g_.vpaddd(odd, odd, value);
    g_.vpsrld(odd, odd, 16);
    g_.vpsrld(number, constant(kSign), 25);  // 0x40: a quiet NaN
    g_.vorps(x, x, number);
    if constexpr (kIs512) {
      g_.vcmpps(g_.k1, value, value, kUnordered);
      g_.vmovdqa32(odd | g_.k1, x);
      g_.vpmovdw(half(x), odd);
      lanes == 1 ? g_.vpextrw(g_.ptr[to], low(x), 0) : g_.vmovdqu(g_.ptr[to], half(x));
    } else {
      g_.vcmpps(number, value, value, kUnordered);
      g_.vpblendvb(odd, odd, x, number);
      if (lanes == 1) {
        g_.vpextrw(g_.ptr[to], low(odd), 0);
      } else {
        g_.vextracti128(low(x), odd, 1);
        g_.vpackusdw(low(x), low(odd), low(x));
        g_.vmovdqu(g_.ptr[to], low(x));
      }
    }
  }
  /// 1 for what is not 0.
  void store_bool(const V& value, const Xbyak::RegExp& to, int lanes) {
    const V x = scratch(0);
    const V zero = scratch(1);
    g_.vxorps(zero, zero, zero);
    g_.vpsrld(x, constant(kSign), 31);
    if constexpr (kIs512) {
      g_.vcmpps(g_.k1, value, zero, kNotEqual);
      g_.vmovdqa32(x | g_.k1 | g_.T_z, x);
      lanes == 1 ? g_.vpextrb(g_.ptr[to], low(x), 0) : g_.vpmovdb(g_.ptr[to], x);
    } else {
      g_.vcmpps(zero, value, zero, kNotEqual);
      g_.vpand(x, x, zero);
      if (lanes == 1) return g_.vpextrb(g_.ptr[to], low(x), 0);
      g_.vextracti128(low(zero), x, 1);
      g_.vpackusdw(low(x), low(x), low(zero));
      g_.vpackuswb(low(x), low(x), low(x));
      g_.vmovq(g_.ptr[to], low(x));
    }
  }

  Xbyak::CodeGenerator& g_;
};

}  // namespace tpack::cpu
