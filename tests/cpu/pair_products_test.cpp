#include "cpu/products/pair_products.h"

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "cpu/convolution/image_pairs.h"
#include "cpu/onednn/onednn.h"
#include "cpu/pair_kernels.h"
#include "cpu/products/pair_grid.h"
#include "cpu/products/pair_matmul.h"
#include "ops/op_cases.h"
#include "tensor/half.h"

/// Products of pairs of bfloat16 against loops in double. All tests but that of the grid need the
/// instructions.
namespace tpack::cpu {
namespace {

std::vector<float> floats_of_seed(int64_t count, uint64_t seed) {
  const Tensor x = random_tensor({count}, seed);
  return {x.span<double>().begin(), x.span<double>().end()};
}
float rounded(float x) { return BFloat16(x).value(); }
uint32_t pair_of(float low, float high) {
  return BFloat16(low).bits | static_cast<uint32_t>(BFloat16(high).bits) << 16;
}
std::vector<uint16_t> bits_of(const std::vector<float>& x) {
  std::vector<uint16_t> bits;
  for (const float value : x) bits.push_back(BFloat16(value).bits);
  return bits;
}

/// The numbers in memory, in the type.
std::vector<std::byte> bytes_of(const std::vector<float>& x, DType type) {
  const std::vector<uint16_t> half = bits_of(x);
  const void* from = type == DType::kFloat32 ? static_cast<const void*>(x.data()) : half.data();
  std::vector<std::byte> bytes(x.size() * (type == DType::kFloat32 ? 4 : 2));
  std::memcpy(bytes.data(), from, bytes.size());
  return bytes;
}

class PairProducts : public WithPairs<testing::Test> {};

TEST_F(PairProducts, are_summed_over_images_rows_and_pixels) {
  for (const int vectors : {1, 2}) {
    const int64_t columns = vectors * simd::kPairLanes;
    // Two images of three rows of five pixels, with gaps between rows and images.
    simd::PairSteps steps = {.images = 2,
                             .rows = 3,
                             .pixels = 5,
                             .a = {200, 60, 8},
                             .b = {500, 160, 32},
                             .vectors = vectors,
                             .b_vector = 16};
    const std::vector<float> a = floats_of_seed(800, 1);
    const std::vector<float> b = floats_of_seed(2000, 2);
    std::vector<uint32_t> a_pairs;
    std::vector<uint32_t> b_pairs;
    for (size_t i = 0; i < 400; ++i) a_pairs.push_back(pair_of(a[2 * i], a[2 * i + 1]));
    for (size_t i = 0; i < 1000; ++i) b_pairs.push_back(pair_of(b[2 * i], b[2 * i + 1]));
    for (const bool add : {false, true}) {
      std::vector<float> sums(static_cast<size_t>(simd::kPairRows * columns), 0.5F);
      steps.add = add;
      simd::add_pair_products(a_pairs.data(), b_pairs.data(), steps, sums.data());
      for (int64_t r = 0; r < simd::kPairRows; ++r) {
        for (int64_t c = 0; c < columns; ++c) {
          double sum = add ? 0.5 : 0;
          for (int64_t step = 0; step < 30; ++step) {
            const int64_t image = step / 15;
            const int64_t row = step / 5 % 3;
            const auto i = static_cast<size_t>(image * 200 + row * 60 + step % 5 * 8 + r);
            const auto j = static_cast<size_t>(image * 500 + row * 160 + step % 5 * 32 + c);
            sum += double{rounded(a[2 * i])} * rounded(b[2 * j]) +
                   double{rounded(a[2 * i + 1])} * rounded(b[2 * j + 1]);
          }
          EXPECT_NEAR(sums[static_cast<size_t>(r * columns + c)], sum, 1e-5)
              << vectors << " " << r << " " << c;
        }
      }
    }
  }
}

TEST_F(PairProducts, pairs_are_made_of_two_rows) {
  const std::vector<float> x = floats_of_seed(400, 3);
  for (const DType type : {DType::kBFloat16, DType::kFloat32}) {
    const std::vector<std::byte> bytes = bytes_of(x, type);
    const int64_t number = type == DType::kFloat32 ? 4 : 2;
    for (const int64_t lanes : {16, 1, 7}) {
      for (const bool has_second : {true, false}) {
        std::vector<uint32_t> pairs(100, 1);
        const std::byte* second = has_second ? bytes.data() + 200 * number : nullptr;
        simd::make_pairs({type, bytes.data(), second, 30 * number, lanes}, 3, pairs.data(), 40);
        for (size_t row = 0; row < 3; ++row) {
          for (size_t i = 0; i < 16; ++i) {
            const bool is_there = static_cast<int64_t>(i) < lanes;
            const float low = is_there ? x[row * 30 + i] : 0;
            const float high = is_there && has_second ? x[200 + row * 30 + i] : 0;
            EXPECT_EQ(pairs[row * 40 + i], pair_of(low, high)) << row << " " << i << " " << lanes;
          }
          if (row < 2) {
            EXPECT_EQ(pairs[row * 40 + 16], 1) << "more than 16 pairs were written";
          }
        }
      }
    }
  }
}

TEST_F(PairProducts, pairs_are_made_within_rows) {
  const std::vector<float> x = floats_of_seed(16 * 80, 4);
  for (const DType type : {DType::kBFloat16, DType::kFloat32}) {
    const std::vector<std::byte> bytes = bytes_of(x, type);
    for (const int64_t rows : {16, 1, 11}) {
      for (const int64_t count : {1, 2, 31, 32, 33, 70}) {
        std::vector<uint32_t> pairs(static_cast<size_t>((count + 1) / 2 * 16 + 1), 7);
        simd::transpose_pairs({type, bytes.data(), 80 * (type == DType::kFloat32 ? 4 : 2), rows, count},
                              pairs.data());
        for (int64_t i = 0; i < count; i += 2) {
          for (int64_t row = 0; row < 16; ++row) {
            const auto at = static_cast<size_t>(row * 80 + i);
            const float low = row < rows ? x[at] : 0;
            const float high = row < rows && i + 1 < count ? x[at + 1] : 0;
            EXPECT_EQ(pairs[static_cast<size_t>(i / 2 * 16 + row)], pair_of(low, high)) << i << " " << row;
          }
        }
        EXPECT_EQ(pairs.back(), 7) << "more than " << count << " numbers were written";
      }
    }
  }
}

TEST_F(PairProducts, a_block_of_sums_is_stored_with_bias_and_activation) {
  std::vector<float> sums = floats_of_seed(8 * 32, 5);
  sums[0] = NAN;
  const std::vector<float> bias = floats_of_seed(32, 6);
  for (const DType type : {DType::kFloat32, DType::kBFloat16}) {
    const int64_t number = type == DType::kFloat32 ? 4 : 2;
    std::vector<std::byte> y(static_cast<size_t>(8 * 40 * number), std::byte{0x11});
    simd::store_sums(sums.data(), 2, {type, y.data(), 40 * number, 7, 19, bias.data(), true});
    for (size_t r = 0; r < 8; ++r) {
      for (size_t c = 0; c < 40; ++c) {
        const std::byte* at = y.data() + (r * 40 + c) * static_cast<size_t>(number);
        float found = 0;
        uint16_t half = 0;
        std::memcpy(type == DType::kFloat32 ? static_cast<void*>(&found) : &half, at,
                    static_cast<size_t>(number));
        if (type == DType::kBFloat16) found = BFloat16Format::value(half);
        if (r == 7 || c >= 19) {
          EXPECT_EQ(*at, std::byte{0x11}) << "written outside of the block: " << r << " " << c;
        } else if (r + c == 0) {
          EXPECT_TRUE(std::isnan(found));
        } else {
          const float expected = std::max(sums[r * 32 + c] + bias[c], 0.0F);
          EXPECT_EQ(found, type == DType::kFloat32 ? expected : rounded(expected)) << r << " " << c;
        }
      }
    }
  }
}

TEST(PairGrid, gives_each_block_and_each_part_of_the_steps_to_one_piece) {
  for (const auto& [rows, columns] : {std::pair{1, 1}, {8, 1}, {1, 5}, {3, 7}, {64, 16}}) {
    for (const int parts : {1, 10}) {
      for (const int pieces : {1, 2, 3, 8, 64}) {
        const PairGrid grid({rows, columns, 2, 9, 1000, parts}, pieces);
        EXPECT_LE(grid.pieces(), pieces);
        EXPECT_LE(grid.step_pieces(), parts);
        std::vector<int> blocks(static_cast<size_t>(rows * columns * grid.step_pieces()));
        for (int piece = 0; piece < grid.pieces(); ++piece) {
          const PairGrid::Part part = grid.part(piece);
          for (int64_t r = part.rows.begin; r < part.rows.end; ++r) {
            for (int64_t c = part.columns.begin; c < part.columns.end; ++c)
              ++blocks.at(static_cast<size_t>((part.of_steps * rows + r) * columns + c));
          }
        }
        EXPECT_TRUE(std::ranges::all_of(blocks, [](int count) { return count == 1; })) << pieces;
      }
    }
  }
}

TEST(PairGrid, divides_the_steps_where_there_are_few_channels) {
  EXPECT_EQ(PairGrid({64, 16, 2, 9, 1000, 10}, 4).step_pieces(), 1) << "many channels: sums are large";
  EXPECT_EQ(PairGrid({2, 1, 1, 9, 100000, 10}, 2).step_pieces(), 2)
      << "16 channels: making pairs is expensive";
  EXPECT_EQ(PairGrid({8, 2, 2, 1, 100000, 50}, 64).pieces(), 64) << "more pieces than blocks";
  EXPECT_EQ(PairGrid({2, 1}, 64).pieces(), 2) << "indivisible steps";
}

/// Errors relative to the largest number: 1e-6 and more come from rounding sums of thousands of products to
/// float32.
void expect_near(const Tensor& found, const Tensor& expected, double tolerance) {
  ASSERT_EQ(found.shape(), expected.shape());
  double largest = 0;
  double error = 0;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    largest = std::max(largest, std::abs(expected.at(i)));
    error = std::max(error, std::abs(found.at(i) - expected.at(i)));
    ASSERT_FALSE(std::isnan(found.at(i))) << i;
  }
  EXPECT_GT(largest, 0);
  EXPECT_LT(error, tolerance * largest);
}

Tensor in_half(const Tensor& x) { return x.cast(DType::kBFloat16).cast(DType::kFloat64); }

struct ImageCase {
  const char* name;
  Shape x;
  Shape window;  // [filters, channels, h, w]
  ConvolutionParams params;
};
std::ostream& operator<<(std::ostream& out, const ImageCase& c) { return out << c.name; }

std::vector<ImageCase> image_cases() {
  return {{"whole_blocks", {4, 16, 8, 8}, {32, 16, 3, 3}, {.padding = {1, 1, 1, 1}}},
          {"an_odd_number_of_images", {3, 32, 7, 9}, {16, 32, 3, 3}, {.padding = {1, 1, 1, 1}}},
          {"channels_that_fill_no_block", {5, 24, 6, 5}, {20, 24, 3, 3}, {.padding = {1, 1, 1, 1}}},
          {"eight_channels", {2, 8, 5, 6}, {17, 8, 2, 3}, {.padding = {0, 1, 1, 0}}},
          {"many_rows", {2, 16, 61, 37}, {48, 16, 3, 3}, {.padding = {1, 1, 1, 1}}},
          {"many_images", {19, 40, 3, 4}, {33, 40, 3, 3}, {.padding = {1, 1, 1, 1}}},
          {"many_chunks_of_images", {60, 16, 7, 7}, {16, 16, 3, 3}, {.padding = {1, 1, 1, 1}}},
          {"many_chunks_of_rows", {7, 16, 45, 30}, {16, 16, 1, 3}, {.padding = {0, 1, 0, 1}}},
          {"one_by_one", {4, 48, 9, 7}, {64, 48, 1, 1}, {}},
          {"one_by_one_with_a_stride", {3, 33, 9, 8}, {16, 33, 1, 1}, {.stride = {2, 3}}},
          {"a_stride", {4, 16, 11, 12}, {16, 16, 3, 3}, {.stride = {2, 2}, .padding = {1, 1, 1, 1}}},
          {"a_dilation", {2, 16, 12, 9}, {16, 16, 3, 3}, {.dilation = {2, 3}, .padding = {2, 3, 2, 3}}},
          {"a_large_window", {2, 9, 10, 9}, {16, 9, 5, 7}, {.padding = {2, 3, 2, 3}}},
          {"padding_wider_than_the_image", {2, 16, 2, 2}, {16, 16, 3, 3}, {.padding = {3, 3, 3, 3}}},
          {"a_stride_wider_than_the_window",
           {2, 16, 13, 13},
           {16, 16, 2, 2},
           {.stride = {5, 4}, .padding = {1, 1, 1, 1}}},
          {"one_pixel", {6, 64, 1, 1}, {80, 64, 1, 1}, {}}};
}

/// By the formula, in double.
Tensor gradient_of_weights(const Tensor& x, const Tensor& dy, const Shape& w, const ConvolutionParams& p) {
  Tensor dw(TensorSpec{DType::kFloat64, w});
  const Shape& xs = x.shape();
  const Shape& ys = dy.shape();
  const auto at = [](const Tensor& t, int64_t n, int64_t c, int64_t h, int64_t v) {
    const Shape& s = t.shape();
    return t.span<double>()[static_cast<size_t>(((n * s[1] + c) * s[2] + h) * s[3] + v)];
  };
  double* out = dw.span<double>().data();
  for (int64_t f = 0; f < w[0]; ++f) {
    for (int64_t c = 0; c < w[1]; ++c) {
      for (int64_t i = 0; i < w[2]; ++i) {
        for (int64_t j = 0; j < w[3]; ++j) {
          double sum = 0;
          for (int64_t n = 0; n < xs[0]; ++n) {
            for (int64_t h = 0; h < ys[2]; ++h) {
              const int64_t row = h * p.stride.h + i * p.dilation.h - p.padding.top;
              if (row < 0 || row >= xs[2]) continue;
              for (int64_t v = 0; v < ys[3]; ++v) {
                const int64_t column = v * p.stride.w + j * p.dilation.w - p.padding.left;
                if (column >= 0 && column < xs[3]) sum += at(x, n, c, row, column) * at(dy, n, f, h, v);
              }
            }
          }
          *out++ = sum;
        }
      }
    }
  }
  return dw;
}

class ImagePairs : public WithPairs<testing::TestWithParam<ImageCase>> {};

TEST_P(ImagePairs, give_the_gradient_of_the_weights_in_both_layouts_and_any_pieces) {
  const ImageCase& c = GetParam();
  PairKernels kernels;
  const Symbol x = kernels.input(DType::kBFloat16, c.x);
  const Symbol w = kernels.input(DType::kBFloat16, c.window);
  const Shape y = kernels.emit<Convolution>(c.params, std::vector{x, w}).outputs[0].shape;
  const Node& node = kernels.emit<ConvolutionBackwardWeights>(
      ConvolutionGradientParams{c.params, {c.window[2], c.window[3]}},
      std::vector{x, kernels.input(DType::kBFloat16, y)});
  ASSERT_TRUE(image_pairs_fit(node, c.params));
  const std::vector<Tensor> inputs = {in_half(random_tensor(c.x, 1)), in_half(random_tensor(y, 2))};
  const Tensor expected = gradient_of_weights(inputs[0], inputs[1], c.window, c.params);
  for (const Layout layout : {Layout::kNhwc, Layout::kBlocked}) {
    for (const int pieces : {1, 2, 3, 16}) {
      SCOPED_TRACE(pieces);
      const PreparedKernel kernel =
          image_pairs_backward_weights({node, layout, kImagePairs, pieces}, c.params);
      expect_near(kernels.run(node, inputs, kernel), expected, 2e-6);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, ImagePairs, testing::ValuesIn(image_cases()),
                         [](const auto& param) { return param.param.name; });

TEST(ImagePairsFit, only_where_the_kernel_has_code) {
  PairKernels kernels;
  const auto fit = [&](DType type, const Shape& x, const Shape& w, const ConvolutionParams& p) {
    const Symbol image = kernels.input(type, x);
    const Shape y = kernels.emit<Convolution>(p, std::vector{image, kernels.input(type, w)}).outputs[0].shape;
    return image_pairs_fit(
        kernels.emit<ConvolutionBackwardWeights>(ConvolutionGradientParams{p, {w[2], w[3]}},
                                                 std::vector{image, kernels.input(type, y)}),
        p);
  };
  EXPECT_EQ(fit(DType::kBFloat16, {2, 16, 5, 5}, {16, 16, 3, 3}, {}), simd::has_pair_products());
  EXPECT_FALSE(fit(DType::kFloat32, {2, 16, 5, 5}, {16, 16, 3, 3}, {})) << "float32";
  EXPECT_FALSE(fit(DType::kBFloat16, {1, 16, 5, 5}, {16, 16, 3, 3}, {})) << "one image";
  EXPECT_FALSE(fit(DType::kBFloat16, {2, 3, 5, 5}, {16, 3, 3, 3}, {})) << "three channels";
  EXPECT_FALSE(fit(DType::kBFloat16, {2, 32, 5, 5}, {32, 16, 3, 3}, {.groups = 2})) << "groups";
  EXPECT_FALSE(fit(DType::kBFloat16, {2, 16, 5, 5}, {16, 16, 1, 1}, {.padding = {1, 1, 1, 1}}))
      << "padded 1x1";
}

struct ProductCase {
  int64_t rows;
  int64_t columns;
  int64_t inner;
};

class PairMatMuls : public WithPairs<testing::TestWithParam<ProductCase>> {};

/// In any types and orders of the factors.
TEST_P(PairMatMuls, agree_with_the_formula) {
  const auto [rows, columns, inner] = GetParam();
  for (const auto& [a_type, b_type] : {std::pair{DType::kBFloat16, DType::kBFloat16},
                                       {DType::kBFloat16, DType::kFloat32},
                                       {DType::kFloat32, DType::kBFloat16}}) {
    for (int order = 0; order < 4; ++order) {
      PairKernels kernels;
      const MatMulParams p = {order % 2 == 1, order / 2 == 1};
      const Shape a_shape = p.transpose_a ? Shape{inner, rows} : Shape{rows, inner};
      const Shape b_shape = p.transpose_b ? Shape{columns, inner} : Shape{inner, columns};
      const Node& node = kernels.emit<MatMul>(
          p, std::vector{kernels.input(a_type, a_shape), kernels.input(b_type, b_shape)});
      ASSERT_EQ(pair_matmul_fits(node, p), !has_amx()) << "next to AMX, oneDNN multiplies matrices";
      const std::vector<Tensor> inputs = {random_tensor(a_shape, 1), random_tensor(b_shape, 2)};
      Tensor expected(TensorSpec{DType::kFloat64, {rows, columns}});
      const Tensor a = in_half(inputs[0].cast(DType::kFloat32));
      const Tensor b = in_half(inputs[1].cast(DType::kFloat32));
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < inner; ++k)
            sum += a.at(p.transpose_a ? k * rows + i : i * inner + k) *
                   b.at(p.transpose_b ? j * inner + k : k * columns + j);
          expected.span<double>()[static_cast<size_t>(i * columns + j)] = sum;
        }
      }
      const auto in_pieces = [&](int pieces) {
        return kernels.run(node, inputs, pair_matmul({node, Layout::kPlain, "", pieces}, p, {}));
      };
      const Tensor one = in_pieces(1);
      expect_near(one, expected, 2e-6);
      for (const int pieces : {2, 7}) EXPECT_TRUE(bit_equal(in_pieces(pieces), one)) << pieces << " pieces";
    }
  }
}

/// The end of the kernel: a bias for each column, then the activation, in both types of results.
TEST_P(PairMatMuls, have_bias_and_activation) {
  const auto [rows, columns, inner] = GetParam();
  PairKernels kernels;
  const std::vector<Tensor> inputs = {in_half(random_tensor({rows, inner}, 1)),
                                      in_half(random_tensor({inner, columns}, 2)),
                                      random_tensor({columns}, 3)};
  const Node& node =
      kernels.emit<MatMul>(MatMulParams{}, std::vector{kernels.input(DType::kBFloat16, {rows, inner}),
                                                       kernels.input(DType::kBFloat16, {inner, columns})});
  const Tensor plain =
      kernels.run(node, {inputs[0], inputs[1]}, pair_matmul({node, Layout::kPlain, "", 2}, {}, {}));
  for (const DType type : {DType::kFloat32, DType::kBFloat16}) {
    Node with_bias = node;
    with_bias.inputs.push_back(kernels.input(DType::kFloat32, {columns}));
    with_bias.outputs[0].dtype = type;
    const Tensor found = kernels.run(
        with_bias, inputs, pair_matmul({with_bias, Layout::kPlain, "", 3}, {}, {.bias = true, .relu = true}));
    int zeros = 0;
    for (int64_t i = 0; i < rows * columns; ++i) {
      const float sum = static_cast<float>(plain.at(i)) + static_cast<float>(inputs[2].at(i % columns));
      const float expected = std::max(sum, 0.0F);
      ASSERT_EQ(found.at(i), type == DType::kFloat32 ? expected : rounded(expected)) << i;
      zeros += expected == 0 ? 1 : 0;
    }
    EXPECT_GT(zeros, 100) << "no activation was needed";
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, PairMatMuls,
                         testing::Values(ProductCase{64, 32, 16}, ProductCase{67, 45, 31},
                                         ProductCase{300, 17, 40}, ProductCase{80, 290, 66},
                                         ProductCase{65, 33, 1100}, ProductCase{600, 16, 70}),
                         [](const auto& param) {
                           return std::to_string(param.param.rows) + "_" +
                                  std::to_string(param.param.columns) + "_" +
                                  std::to_string(param.param.inner);
                         });

}  // namespace
}  // namespace tpack::cpu
