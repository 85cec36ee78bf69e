extension Command {
    /// What is started where `path` is to run: that, or a shell that sets a watch over the group and becomes it.
    func program(at path: String) -> (path: String, words: [String]) {
        guard endsWithParent else { return (path, [executable] + arguments) }
        // A path that begins with a hyphen would be an option of `exec`.
        let file = path.hasPrefix("/") ? path : "./\(path)"
        return ("/bin/sh", ["sh", "-c", Self.watch, "sh", file] + arguments)
    }

    /// Nothing is ever written into descriptor 3, whose other end only this process has: it ends with this process, and
    /// the watcher kills the group that it is in itself. It lets no other signal end it, so that it is there until the
    /// group is killed.
    private static let watch = """
        { trap '' HUP INT QUIT TERM; read -r _ <&3; kill -KILL 0; } </dev/null >/dev/null 2>&1 &
        exec 3<&- "$@"
        """
}
