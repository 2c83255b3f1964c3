#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/tensor.h"

// Tensors in files: ONNX's TensorProto (.pb), NumPy's .npy and .npz. Every reader throws
// Error(invalid) naming the file and what is wrong with it; every writer writes beside the target
// and renames, so that there is never half a file, and throws Error(failed) if the machine refuses
// (disk full), Error(usage) if the path cannot be written.
namespace concord::importer {

struct NamedTensor {
  std::string name;  // empty if the file does not say
  Tensor tensor;
};

// A TensorProto in any encoding; external data below the file's folder. Large tensors view the
// mapped file. For the type of a container: a SequenceProto or an OptionalProto.
NamedTensor read_pb(const std::filesystem::path& path, DataType type = DataType::undefined);
void write_pb(const std::filesystem::path& path, const Tensor& tensor, const std::string& name);

// Types that NumPy lacks are written as their bits (bfloat16 and float8 as unsigned integers, 4-bit
// types one element per byte); `as` gives the type that the reader wants them back as. Fortran
// order and big-endian files are read.
Tensor read_npy(const std::filesystem::path& path, std::optional<DataType> as = {});
void write_npy(const std::filesystem::path& path, const Tensor& tensor);

// Members "NAME.npy" by NAME; stored or deflated.
std::map<std::string, Tensor> read_npz(const std::filesystem::path& path);
void write_npz(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors);

// "test_data_set_0", … of a model folder, in numerical order.
std::vector<std::filesystem::path> data_sets(const std::filesystem::path& folder);

// A .npz file, or a folder with input_N.pb (and output_N.pb) in the order of the graph's inputs, or
// NAME.npy, NAME.pb, or one .npz. Inputs come back by name; outputs that the folder does not have
// are left out. Types are made to fit the graph's (see read_npy). Throws Error(invalid) if a file
// belongs to no input, or the number of files does not fit.
struct DataSet {
  std::map<std::string, Tensor> inputs;
  std::map<std::string, Tensor> outputs;
};
DataSet read_data_set(const std::filesystem::path& path, const graph::Graph& graph);

// Outputs only: a folder of output_N.pb or NAME.npy, or a .npz file, for the `expected`
// participant.
std::map<std::string, Tensor> read_outputs(const std::filesystem::path& path,
                                           const graph::Graph& graph);

enum class TensorFormat { pb, npy };
// output_N.pb in the graph's output order, or NAME.npy (characters that file systems dislike become
// '_'). Makes the folder.
void write_outputs(const std::filesystem::path& folder, const graph::Graph& graph,
                   const std::vector<Tensor>& outputs, TensorFormat format);
// test_data_set_N in ONNX's layout: input_N.pb and, where given, output_N.pb.
void write_data_set(const std::filesystem::path& folder, const graph::Graph& graph,
                    const std::map<std::string, Tensor>& inputs,
                    const std::vector<Tensor>& outputs);

// Writes a whole file in the same safe manner; for reports.
void write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace concord::importer
