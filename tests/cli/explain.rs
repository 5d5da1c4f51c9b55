//! `explain`: what is printed about a pair of order and protocol, and what is refused.

use super::common::{Folder, run};
use super::{refused, refused_in_a_line};

/// What `explain WORDS` prints.
fn explained(words: &str) -> String {
    let words: Vec<&str> = ["explain"].into_iter().chain(words.split(' ')).collect();
    let outcome = run(&std::env::temp_dir(), &words);
    assert_eq!(
        (outcome.code, &*outcome.stderr),
        (0, ""),
        "{words:?}: {}",
        outcome.stdout
    );
    outcome.stdout
}

const ORDERED_READY: &str = r"ordered/ready: a swap of two ranks, 1 message of 2048 bytes each way

order 1           ordered: the lower rank sends, then receives; the higher receives, then sends
protocol 4        ready: rsend, irecv + wait, handshake
MPI calls         MPI_Irecv, MPI_Rsend, MPI_Wait
signals           MPI_Recv, MPI_Send of no data, on a communicator of their own
send modes        ready
calls             partner, tag (the step), elements of the rank's buffer

                  rank 0                             rank 1
step 1   start    irecv        from 1 tag 1 0..256   irecv        from 0 tag 1 0..256
                                                     signal       to 0 tag 1
         exchange await signal from 1 tag 1          wait recv    from 0 tag 1 0..256
                  rsend        to 1 tag 1 0..256     rsend        to 0 tag 1 0..256
                  wait recv    from 1 tag 1 0..256
         finish   -                                  -

each message      requests 1, signals 0.5
all ranks         messages 2, requests 2, signals 1; requests of a rank under way together: 1
verdict           ends when nothing is buffered
";

const SIMPLE_BLOCKING: &str = r"simple/blocking: a swap of two ranks, 1 message of 2048 bytes each way

order 0           simple: both ranks send, then receive
protocol 0        blocking: send, recv
MPI calls         MPI_Recv, MPI_Send
send modes        standard
calls             partner, tag (the step), elements of the rank's buffer

                  rank 0                             rank 1
step 1   start    -                                  -
         exchange send         to 1 tag 1 0..256     send         to 0 tag 1 0..256
                  recv         from 1 tag 1 0..256   recv         from 0 tag 1 0..256
         finish   -                                  -

each message      requests 0, signals 0
all ranks         messages 2, requests 0, signals 0; requests of a rank under way together: 0
verdict           ends only if messages of 2048 bytes are buffered: works up to the eager limit of the library

When nothing is buffered:
  ranks that wait for each other: 0, 1
  rank 0 call 0: send to 1 tag 1 0..256 waits for rank 1 call 1: recv from 0 tag 1 0..256
  rank 1 call 0: send to 0 tag 1 0..256 waits for rank 0 call 1: recv from 1 tag 1 0..256
";

#[test]
fn both_sides_of_an_ordered_ready_swap() {
    let text = explained("ordered/ready");
    assert_eq!(text, ORDERED_READY, "\n{text}");
    assert_eq!(explained("1/4"), text);
}

#[test]
fn a_pair_that_relies_on_buffering_says_up_to_what_size() {
    let text = explained("simple/blocking --unsafe-order");
    assert_eq!(text, SIMPLE_BLOCKING, "\n{text}");
    let text = explained("delayed/blocking --unsafe-order --messages 3 --bytes 8");
    assert!(text.contains("messages of 8 bytes are buffered"), "{text}");
    let text = explained("simple/10 --unsafe-order --bytes 8");
    assert!(text.contains("never ends"), "{text}");
    assert!(text.contains("Whatever is buffered"), "{text}");
}

/// The numbers of a line of the summary.
fn numbers(text: &str, name: &str) -> Vec<f64> {
    let line = text.lines().find(|line| line.starts_with(name));
    let words = line.unwrap_or_else(|| panic!("no {name} in\n{text}"));
    words
        .split([' ', ',', ';'])
        .filter_map(|word| word.parse().ok())
        .collect()
}

#[test]
fn requests_and_signals_are_counted() {
    for (words, each) in [
        ("ordered/ready", [1.0, 0.5]),
        ("simple/ready", [1.0, 1.0]),
        ("simple/nonblocking --handshake", [2.0, 1.0]),
        ("ordered/native --ranks 4 --transpose send-recv", [0.0, 1.0]),
        (
            "ordered/ready --ranks 8 --transpose logarithmic",
            [1.0, 0.5],
        ),
        ("simple/native", [0.0, 0.0]),
        ("0/7 --messages 5", [1.0, 0.0]),
    ] {
        assert_eq!(numbers(&explained(words), "each message"), each, "{words}");
    }
    let text = explained("simple/nonblocking --messages 6 --overlap");
    assert_eq!(numbers(&text, "all ranks"), [12.0, 24.0, 0.0, 7.0]);
    let capped = explained("simple/nonblocking --messages 6 --overlap --max-requests 4");
    assert_eq!(numbers(&capped, "all ranks"), [12.0, 24.0, 0.0, 3.0]);
}

#[test]
fn the_calls_of_every_rank_of_a_transpose() {
    for transpose in ["swap", "send-recv"] {
        let text = explained(&format!(
            "ordered/nonblocking --ranks 5 --transpose {transpose}"
        ));
        for rank in 0..5 {
            assert!(text.contains(&format!("rank {rank}")), "{text}");
        }
        assert_eq!(text.matches("isend ").count(), 20, "{text}");
        assert_eq!(text.matches("wait recv ").count(), 20, "{text}");
        assert!(text.contains("ends when nothing is buffered"), "{text}");
    }
    // Three rounds, to the rank 1, 2, 4 further on; overlap changes nothing.
    let text = explained("ordered/nonblocking --ranks 5 --transpose logarithmic --bytes 8");
    assert_eq!(text.matches("isend ").count(), 15, "{text}");
    for call in ["to 1 tag 1 0..2", "to 2 tag 2 0..2", "to 4 tag 3 0..1"] {
        assert!(text.contains(&format!("isend        {call}")), "{text}");
    }
    assert_eq!(
        explained("ordered/nonblocking --ranks 5 --transpose logarithmic --bytes 8 --overlap"),
        text
    );
    let text = explained("ordered/nonblocking --ranks 1");
    assert!(text.contains("makes no calls"), "{text}");
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let folder = Folder::new("explain-refused");
    for (words, said) in [
        (
            "simple/blocking",
            "legal orders of protocol blocking: ordered",
        ),
        ("2/10", "never end"),
        ("ordred/ready", "did you mean ordered?"),
        ("ordered/rady", "did you mean ready?"),
        ("ordered/11", "10 blocking-synchronous"),
        ("3/ready", "2 delayed"),
        ("ordered", "ordered/ready"),
        ("ordered/ready/simple", "ready/simple"),
        ("ordered/ready --bytes 12", "multiple of 8"),
        ("ordered/ready --bytes 0", "multiple of 8"),
    ] {
        refused_in_a_line(&folder, &format!("explain {words}"), &["explain", said]);
    }
    for (words, said) in [
        ("", "ORDER/PROTOCOL"),
        ("ordered/ready --ranks 17", "16"),
        ("ordered/ready --ranks 0", "--ranks"),
        ("ordered/ready --messages 0", "--messages"),
        ("ordered/ready --messages 2 --ranks 2", "--ranks"),
        ("ordered/ready --transpose swap", "--ranks"),
        ("ordered/ready --ranks 2 --transpose ring", "send-recv"),
        ("ordered/ready --max-requests 2", "--overlap"),
    ] {
        refused(&folder, &format!("explain {words}"), &[said]);
    }
}
