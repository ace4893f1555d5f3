#include "cli/signals.h"

#include <csignal>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tpack {
namespace {

/// The process that started the tests may ignore some of them (`nohup`).
void let_signals_end_the_process() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, SIG_DFL);
}

TEST(SignalWatcher, ends_at_once_while_nobody_watches) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EXIT(
        {
          let_signals_end_the_process();
          const SignalWatcher watcher;
          raise(number);
        },
        testing::ExitedWithCode(128 + number), "^error: interrupted before training began");
  }
}

TEST(SignalWatcher, leaves_it_to_others_to_say_that_nothing_was_trained) {
  EXPECT_EXIT(
      {
        let_signals_end_the_process();
        const SignalWatcher watcher({.says_early_end = false});
        raise(SIGTERM);
      },
      testing::ExitedWithCode(128 + SIGTERM), "^$");
}

TEST(SignalWatcher, leaves_alone_what_the_process_was_started_to_ignore) {
  for (const int number : {SIGINT, SIGHUP}) {
    EXPECT_EXIT(
        {
          std::signal(number, SIG_IGN);
          {
            SignalWatcher watcher;
            watcher.expect_orderly_end();
            raise(number);
            if (watcher.signal() != 0) std::exit(1);
          }
          raise(number);
          std::exit(7);
        },
        testing::ExitedWithCode(7), "");
  }
}

TEST(SignalWatcher, continues_if_nobody_reads_what_is_written) {
  EXPECT_EXIT(
      {
        const SignalWatcher watcher;
        raise(SIGPIPE);
        std::exit(7);
      },
      testing::ExitedWithCode(7), "");
}

TEST(SignalWatcher, takes_an_interrupt_that_comes_twice_at_once_for_one) {
  EXPECT_EXIT(
      {
        let_signals_end_the_process();
        SignalWatcher watcher;
        watcher.expect_orderly_end();
        raise(SIGINT);
        raise(SIGINT);  // a machine that stands still for a second in between would end the process
        std::exit(watcher.signal() == SIGINT ? 7 : 1);
      },
      testing::ExitedWithCode(7), "");
}

TEST(SignalWatcher, hands_over_a_request_to_save_once) {
  EXPECT_EXIT(
      {
        for (const int number : {SIGUSR1, SIGUSR2}) std::signal(number, SIG_DFL);
        SignalWatcher watcher;
        if (SignalWatcher::take_save_request() != 0) std::exit(1);
        raise(SIGUSR1);
        if (SignalWatcher::take_save_request() != SIGUSR1) std::exit(2);
        if (SignalWatcher::take_save_request() != 0) std::exit(3);
        raise(SIGUSR2);
        if (SignalWatcher::take_save_request() != SIGUSR2) std::exit(4);
        std::exit(watcher.signal() == 0 && !watcher.stop_token().stop_requested() ? 7 : 5);
      },
      testing::ExitedWithCode(7), "");
}

TEST(SignalWatcher, asks_for_an_orderly_end_once) {
  EXPECT_EXIT(
      {
        let_signals_end_the_process();
        SignalWatcher watcher;
        watcher.expect_orderly_end();
        raise(SIGTERM);
        while (!watcher.stop_token().stop_requested()) std::this_thread::yield();
        if (watcher.signal() != SIGTERM) std::exit(1);
        raise(SIGINT);
      },
      testing::ExitedWithCode(128 + SIGINT),
      "interrupt again to end immediately\nerror: interrupted again: ended immediately");
}

TEST(SignalWatcher, takes_signals_that_follow_at_once_for_the_same_request) {
  EXPECT_EXIT(
      {
        let_signals_end_the_process();
        SignalWatcher watcher;
        watcher.expect_orderly_end();
        for (const int number : {SIGTERM, SIGTERM, SIGHUP}) raise(number);
        std::exit(watcher.signal() == SIGTERM ? 7 : 1);
      },
      testing::ExitedWithCode(7), "");
}

TEST(SignalWatcher, ends_without_a_word_once_all_is_saved) {
  EXPECT_EXIT(
      {
        let_signals_end_the_process();
        SignalWatcher watcher;
        watcher.expect_orderly_end();
        watcher.expect_end();
        raise(SIGINT);
      },
      testing::ExitedWithCode(128 + SIGINT), "^$");
}

}  // namespace
}  // namespace tpack
