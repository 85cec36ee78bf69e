import Glibc

extension Command {
    /// The path to execute, found by the rules of a shell, or an error that says what is wrong.
    func locate() throws(ProcessError) -> String {
        if let directory = workingDirectory, !isDirectory(directory) {
            throw ProcessError(
                .workingDirectory, "cannot run \(executable): there is no directory \(directory)", errno: ENOENT)
        }
        if executable.utf8.contains(UInt8(ascii: "/")) {
            let seen = executable.hasPrefix("/") ? executable : "\(workingDirectory ?? ".")/\(executable)"
            guard unsafe access(seen, F_OK) == 0 else { throw notFound("there is no such file", errno) }
            guard isProgram(seen) else { throw notExecutable("it is not an executable file", EACCES) }
            return executable
        }
        let path = environment.variables["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        var foundButUnusable: String?
        // An empty or relative element would let the working directory decide what runs, so that it does not count.
        for directory in path.split(separator: ":") where directory.hasPrefix("/") {
            let candidate = "\(directory)/\(executable)"
            if isProgram(candidate) { return candidate }
            if unsafe access(candidate, F_OK) == 0, !isDirectory(candidate) { foundButUnusable = candidate }
        }
        if let foundButUnusable { throw notExecutable("\(foundButUnusable) is not executable", EACCES) }
        throw notFound("it is in no directory of PATH (\(path)); install it or give its path", ENOENT)
    }

    /// What the system's refusal to execute a file that `locate` accepted means.
    func refusal(of path: String, errno number: Int32) -> ProcessError {
        switch number {
        case ENOENT: notFound("\(path) or the interpreter that its first line names does not exist", number)
        case ENOEXEC: notExecutable("\(path) is no program, and its first line names no interpreter", number)
        case EACCES, EPERM: notExecutable("permission to run \(path) is denied", number)
        case E2BIG: ProcessError(.invalid, "cannot run \(executable): its arguments are too long", errno: number)
        default: .system("run \(executable)", errno: number)
        }
    }

    private func notFound(_ reason: String, _ number: Int32) -> ProcessError {
        ProcessError(.notFound, "cannot run \(executable): \(reason)", errno: number)
    }

    private func notExecutable(_ reason: String, _ number: Int32) -> ProcessError {
        ProcessError(.notExecutable, "cannot run \(executable): \(reason)", errno: number)
    }

    private func isProgram(_ path: String) -> Bool {
        unsafe access(path, X_OK) == 0 && !isDirectory(path)
    }

    private func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
