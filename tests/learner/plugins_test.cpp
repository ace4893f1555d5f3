#include "learner/plugins.h"

#include <filesystem>
#include <unistd.h>

#include "support/temporary_folder.h"

namespace tpack {
namespace {

namespace fs = std::filesystem;

std::string error_of_plugin(const std::string& path) {
  Diagnostics errors;
  load_plugins({{path, {std::make_shared<const std::string>("--set plugins"), 0, 0}}}, errors);
  try {
    errors.throw_if_any();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

/// A shared library that is not a plugin.
std::string some_library() {
  for (const char* path :
       {"/lib/x86_64-linux-gnu/libz.so.1", "/usr/lib/libz.so.1", "/lib/aarch64-linux-gnu/libz.so.1"}) {
    if (fs::exists(path)) return path;
  }
  return "";
}

TEST(Plugins, must_be_there) {
  EXPECT_EQ(error_of_plugin("/no/such.so"), "--set plugins: no such plugin '/no/such.so'");
}

TEST(Plugins, that_everybody_may_write_are_rejected) {
  const TemporaryFolder folder;
  write_content(folder / "p.so", "x");
  fs::permissions(folder / "p.so", fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(error_of_plugin(folder / "p.so"),
            "--set plugins: the plugin " + (folder / "p.so") +
                " is world-writable; remove that permission with chmod o-w");
}

TEST(Plugins, in_folders_that_everybody_may_write_are_rejected) {
  const TemporaryFolder folder;
  write_content(folder / "p.so", "x");
  fs::permissions(folder.str(), fs::perms::others_write, fs::perm_options::add);
  EXPECT_NE(error_of_plugin(folder / "p.so").find("the folder of the plugin " + folder.str()),
            std::string::npos);
}

TEST(Plugins, are_rejected_if_a_link_leads_to_a_world_writable_folder) {
  const TemporaryFolder folder;
  const TemporaryFolder open;
  write_content(open / "p.so", "x");
  fs::permissions(open.str(), fs::perms::others_write, fs::perm_options::add);
  fs::create_symlink(open / "p.so", folder / "p.so");
  EXPECT_NE(error_of_plugin(folder / "p.so").find("the folder of the plugin " + open.str()),
            std::string::npos);
}

TEST(Plugins, must_be_libraries) {
  const TemporaryFolder folder;
  write_content(folder / "p.so", "not a library");
  EXPECT_NE(error_of_plugin(folder / "p.so").find(" is not a shared library ("), std::string::npos);
}

TEST(Plugins, next_to_a_config_are_found_by_their_bare_name) {
  const TemporaryFolder folder;
  write_content(folder / "p.so", "not a library");
  const fs::path before = fs::current_path();
  fs::current_path(folder.str());
  const std::string opened = error_of_plugin("p.so");
  fs::permissions(folder.str(), fs::perms::others_write, fs::perm_options::add);
  const std::string writable = error_of_plugin("p.so");
  fs::current_path(before);
  EXPECT_EQ(opened, "--set plugins: plugin p.so is not a shared library (file too short)");
  EXPECT_NE(writable.find("the folder of the plugin " + folder.str()), std::string::npos) << writable;
}

TEST(Plugins, must_say_that_they_are_plugins) {
  if (some_library().empty()) GTEST_SKIP() << "no libz.so.1 where it was looked for";
  const TemporaryFolder folder;
  fs::copy_file(some_library(), folder / "p.so");
  EXPECT_EQ(error_of_plugin(folder / "p.so"), "--set plugins: plugin " + (folder / "p.so") +
                                                  " does not define tpack_plugin(); see core/plugin.h");
}

TEST(Plugins, below_folders_that_everybody_may_write_are_rejected) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "open/inside/deep");
  write_content(folder / "open/inside/deep/p.so", "x");
  fs::permissions(folder / "open", fs::perms::others_write, fs::perm_options::add);
  EXPECT_NE(error_of_plugin(folder / "open/inside/deep/p.so")
                .find("the folder above the plugin " + (folder / "open") + " is world-writable"),
            std::string::npos);
  fs::permissions(folder / "open", fs::perms::sticky_bit, fs::perm_options::add);
  EXPECT_EQ(error_of_plugin(folder / "open/inside/deep/p.so").find("world-writable"), std::string::npos)
      << "there, only owners may replace files";
}

TEST(Plugins, of_another_user_are_rejected_for_root) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  const TemporaryFolder folder;
  write_content(folder / "p.so", "x");
  ASSERT_EQ(::chown((folder / "p.so").c_str(), 12345, 12345), 0);
  EXPECT_NE(error_of_plugin(folder / "p.so").find("belongs to user 12345, and tpack runs as root"),
            std::string::npos);
}

}  // namespace
}  // namespace tpack
