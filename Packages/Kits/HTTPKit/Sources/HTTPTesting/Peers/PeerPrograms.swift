import FileKit
import ProcessKit

/// Where the programs are that tests talk to.
enum PeerPrograms {
    /// The variables of the peers: those of this process without secrets, and sbin, where Debian has nginx.
    static func environment() -> CommandEnvironment {
        let own = Environment.snapshot()
        let path = (own["PATH"] ?? "/usr/bin:/bin") + ":/usr/sbin:/sbin"
        return .inheriting(own, adding: ["PATH": path, "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"])
    }

    /// Python that runs a program until that ends or its own input does. A test that crashes cannot end its peers, but
    /// the pipe to them closes by itself.
    static let supervisor = """
        import os, select, subprocess, sys, threading
        def watch(leave):
            def wait():
                while True:
                    # A program may read its input too, and may have made it not block.
                    select.select([0], [], [])
                    try:
                        if not os.read(0, 4096):
                            return leave()
                    except BlockingIOError:
                        pass
            threading.Thread(target=wait, daemon=True).start()
        def supervise(arguments, descriptors=()):
            child = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, pass_fds=descriptors)
            watch(child.terminate)
            sys.exit(child.wait())
        """

    /// The Python that has the packages of `.ci/peers`: where MARTLET_PEERS says, or in `.build/peers` of the project,
    /// where `make setup` puts it.
    static func python() throws -> String {
        if let peers = Environment.snapshot()["MARTLET_PEERS"] { return "\(peers)/bin/python" }
        var folder = #filePath
        while let slash = folder.lastIndex(of: "/"), slash > folder.startIndex {
            folder = String(folder[..<slash])
            let python = "\(folder)/.build/peers/bin/python"
            if Files.exists(python) { return python }
        }
        throw ScriptError.failed("the Python peers are not installed: run `make setup`, or set MARTLET_PEERS")
    }
}
