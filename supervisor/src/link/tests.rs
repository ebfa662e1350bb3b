//! Links to real but tiny processes: shell scripts that behave in odd ways.

use super::*;
use pressroom_shared::{Incarnation, SeatId};

const WORKER: WorkerId = WorkerId {
    seat: SeatId(0),
    incarnation: Incarnation(1),
};

fn shell(script: &str) -> Launcher {
    Launcher::program("/bin/sh".into(), vec!["-c".into(), script.into()])
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(future)
}

/// Everything heard until the exit, and the exit.
async fn hear(mut heard: mpsc::Receiver<Heard>) -> (Vec<String>, Ended) {
    let mut before = Vec::new();
    while let Some(Heard { news, .. }) = heard.recv().await {
        match news {
            News::Message(message) => before.push(format!("{message:?}")),
            News::Nonsense(why) => before.push(why),
            News::Exited(ended) => return (before, ended),
        }
    }
    panic!("the exit was never heard");
}

fn start(script: &str) -> (Link, mpsc::Receiver<Heard>) {
    let (sender, receiver) = mpsc::channel(8);
    let link = Link::start(&shell(script), WORKER, sender).expect("sh starts");
    (link, receiver)
}

#[test]
fn an_exit_comes_with_its_last_words() {
    run(async {
        let (link, heard) = start("echo sorry >&2; exit 7");
        let (before, ended) = hear(heard).await;
        assert_eq!(before, Vec::<String>::new());
        assert_eq!(ended.status.and_then(|status| status.code()), Some(7));
        assert_eq!(ended.words, b"sorry\n");
        assert_eq!(link.pid(), None);
        link.kill();
    });
}

#[test]
fn messages_before_the_exit_are_heard_before_it() {
    run(async {
        // A frame of 5 bytes: the map {"Started": [7]} as MessagePack arrays and strings.
        let frame = r"\013\000\000\000\201\247Started\221\007";
        let (_link, heard) = start(&format!("printf '{frame}{frame}'"));
        let (before, _) = hear(heard).await;
        assert_eq!(before, vec!["Started(Started { id: JobId(7) })"; 2]);
    });
}

#[test]
fn garbage_is_nonsense_and_the_process_still_has_to_be_killed() {
    run(async {
        let (link, mut heard) = start("printf 'this is no frame'; sleep 60");
        let first = heard.recv().await.expect("something").news;
        assert!(matches!(first, News::Nonsense(_)), "{first:?}");
        link.kill();
        let (_, ended) = hear(heard).await;
        assert!(ended.status.is_some_and(|status| !status.success()));
    });
}

#[test]
fn closing_the_output_while_alive_is_nonsense() {
    run(async {
        let (link, mut heard) = start("exec 1>&-; sleep 60");
        let first = heard.recv().await.expect("something").news;
        assert!(matches!(first, News::Nonsense(_)), "{first:?}");
        link.kill();
        hear(heard).await;
    });
}

#[test]
fn a_grandchild_that_holds_the_pipes_is_not_waited_for() {
    run(async {
        let (_link, heard) = start("sleep 60 & exit 3");
        let (_, ended) = hear(heard).await;
        assert_eq!(ended.status.and_then(|status| status.code()), Some(3));
    });
}

#[test]
fn a_flood_of_stderr_blocks_nobody() {
    run(async {
        let (_link, heard) = start("head -c 3000000 /dev/zero >&2; exit 4");
        let (_, ended) = hear(heard).await;
        assert_eq!(ended.status.and_then(|status| status.code()), Some(4));
        assert_eq!(ended.words.len(), 8 * 1024);
    });
}

#[test]
fn closing_its_input_tells_a_worker_to_leave() {
    run(async {
        let (mut link, heard) = start("cat > /dev/null; exit 5");
        link.close();
        let (_, ended) = hear(heard).await;
        assert_eq!(ended.status.and_then(|status| status.code()), Some(5));
    });
}

#[test]
fn a_program_that_does_not_exist_cannot_be_started() {
    run(async {
        let (sender, _receiver) = mpsc::channel(1);
        let launcher = Launcher::program("/nowhere/at/all".into(), Vec::new());
        assert!(Link::start(&launcher, WORKER, sender).is_err());
    });
}

#[test]
fn the_environment_is_empty_but_for_what_is_wanted() {
    run(async {
        let launcher = shell("env >&2").with_variable("WANTED", "yes".into());
        let (sender, receiver) = mpsc::channel(8);
        let _link = Link::start(&launcher, WORKER, sender).expect("sh starts");
        let (_, ended) = hear(receiver).await;
        let words = String::from_utf8_lossy(&ended.words).into_owned();
        assert!(words.contains("WANTED=yes"), "{words}");
        assert!(!words.contains("CARGO"), "{words}");
    });
}
