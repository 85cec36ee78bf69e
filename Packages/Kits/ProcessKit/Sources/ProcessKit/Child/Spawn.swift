import CProcessKit
import Glibc
import LoopKit

/// A started process and this side's ends of its pipes.
struct Spawn {
    let process: Int32
    let pidfd: Int32
    /// This side's ends of standard input, output and error, and of the watcher's pipe. Nil without a pipe.
    let ends: [Int32?]

    /// Starts the command. `terminal` becomes the child's before it runs.
    init(_ command: Command, terminal: Int32? = nil) throws(ProcessError) {
        try command.check()
        let path = try command.locate()
        var pipes = try Pipes(command)
        let arguments = StringVector([command.executable] + command.arguments)
        let environment = StringVector(command.environment.variables.map { "\($0.key)=\($0.value)" })
        let standard = (pipes.theirs[0], pipes.theirs[1], pipes.theirs[2])
        var (process, pidfd): (Int32, Int32) = (-1, -1)
        var stage = PROCESSKIT_STARTING
        let result = unsafe path.withCString { path in
            unsafe withOptionalCString(command.workingDirectory) { directory in
                unsafe command.descriptors.withUnsafeBufferPointer { passed in
                    unsafe withRestriction(command.restriction) { restriction in
                        var request = unsafe processkit_spawn(
                            path: path, arguments: arguments.pointer, environment: environment.pointer,
                            directory: directory, standard: standard, watched: pipes.theirs[3],
                            passed: passed.baseAddress, passed_count: Int32(passed.count),
                            session: command.hasOwnSession, no_core: command.hasNoCore,
                            no_groups: command.hasNoGroups,
                            most_tasks: UInt(command.mostTasks ?? 0), most_data: UInt(command.mostData ?? 0),
                            supervised: command.endsDescendants, restriction: restriction, terminal: terminal ?? -1)
                        return unsafe processkit_spawn(&request, &process, &pidfd, &stage)
                    }
                }
            }
        }
        guard result == 0 else {
            if stage == PROCESSKIT_RESTRICTING {
                throw .system("restrict \(command.executable)", .notRestricted, errno: -result)
            }
            // A failure to watch a child is not a failure of the program.
            throw process > 0
                ? .system("watch \(command.executable)", errno: -result) : command.refusal(of: path, errno: -result)
        }
        self.process = process
        self.pidfd = pidfd
        ends = pipes.takeOurs()
    }
}

extension Spawn {
    /// Watches the child and this side's ends in the loop. If that fails, the child is killed and nothing is left.
    func watch(loop: EventLoop) throws(ProcessError) -> (pidfd: LoopDescriptor, ends: [LoopDescriptor?]) {
        var watched: [LoopDescriptor?] = []
        // The number of ends passed to the loop, which also closes an end that it rejects.
        var taken = 0
        do throws(LoopError) {
            let pidfd = try LoopDescriptor(owning: pidfd, loop: loop)
            for end in ends {
                taken += 1
                guard let end else {
                    watched.append(nil)
                    continue
                }
                watched.append(try LoopDescriptor(owning: end, loop: loop))
            }
            return (pidfd, watched)
        } catch {
            for end in ends.dropFirst(taken) { _ = end.map { close($0) } }
            kill(-process, SIGKILL)
            waitpid(process, nil, 0)
            throw .watching(error)
        }
    }
}

/// Calls `body` with the string for C, or with nil.
private func withOptionalCString(_ string: String?, _ body: (UnsafePointer<CChar>?) -> Int32) -> Int32 {
    guard let string else { return body(nil) }
    return unsafe string.withCString { unsafe body($0) }
}

/// Calls `body` with the restriction for C, or with nil.
private func withRestriction(
    _ restriction: Command.Restriction?, _ body: (UnsafePointer<processkit_restriction>?) -> Int32
) -> Int32 {
    guard let restriction else { return body(nil) }
    return unsafe restriction.filter.withUnsafeBytes { filter in
        // An empty filter is not valid, and the kernel refuses it.
        guard let start = filter.baseAddress else { return -EINVAL }
        var given = unsafe processkit_restriction(
            ruleset: restriction.ruleset, filter: start, filter_count: filter.count / 8)
        return unsafe body(&given)
    }
}

/// The pipes of a child that is about to start. Ends that are not taken are closed.
private struct Pipes: ~Copyable {
    private(set) var theirs: [Int32] = []
    private var ours: [Int32?] = []

    init(_ command: Command) throws(ProcessError) {
        switch command.input {
        case .null: add(PROCESSKIT_NULL)
        case .inherit: add(PROCESSKIT_INHERIT)
        case .bytes, .pipe: try addPipe(childReads: true)
        }
        switch command.output {
        case .null: add(PROCESSKIT_NULL)
        case .inherit: add(PROCESSKIT_INHERIT)
        case .pipe: try addPipe(childReads: false)
        }
        switch command.errors {
        case .null: add(PROCESSKIT_NULL)
        case .inherit: add(PROCESSKIT_INHERIT)
        case .output: add(PROCESSKIT_OUTPUT)
        case .pipe, .tail: try addPipe(childReads: false)
        }
        if command.endsWithParent || command.endsDescendants {
            try addPipe(childReads: true)
        } else {
            add(PROCESSKIT_NULL)
        }
    }

    deinit {
        for descriptor in theirs where descriptor >= 0 { close(descriptor) }
        for descriptor in ours { _ = descriptor.map { close($0) } }
    }

    mutating func takeOurs() -> [Int32?] {
        defer { ours = [] }
        return ours
    }

    private mutating func add(_ choice: Int) {
        theirs.append(Int32(choice))
        ours.append(nil)
    }

    private mutating func addPipe(childReads: Bool) throws(ProcessError) {
        var (readEnd, writeEnd): (Int32, Int32) = (-1, -1)
        let result = unsafe processkit_pipe(&readEnd, &writeEnd)
        guard result == 0 else { throw .system("create a pipe for a child process", errno: -result) }
        theirs.append(childReads ? readEnd : writeEnd)
        ours.append(childReads ? writeEnd : readEnd)
    }
}

/// A null-terminated array of C strings, for `argv` and `envp`.
@safe
struct StringVector: ~Copyable {
    private let start: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ strings: [String]) {
        count = strings.count
        unsafe start = .allocate(capacity: count + 1)
        for (index, string) in strings.enumerated() { unsafe (start + index).initialize(to: strdup(string)) }
        unsafe (start + count).initialize(to: nil)
    }

    deinit {
        for index in 0..<count { unsafe free(start[index]) }
        unsafe start.deallocate()
    }

    /// The array for C, valid as long as this value is.
    var pointer: UnsafePointer<UnsafeMutablePointer<CChar>?> { unsafe UnsafePointer(start) }
}
