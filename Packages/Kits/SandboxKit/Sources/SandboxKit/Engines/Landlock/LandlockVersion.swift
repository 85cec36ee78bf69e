import CSandboxKit

/// What the Landlock of a kernel knows, which grows with its version.
struct LandlockVersion: Hashable, Sendable {
    /// Before it nothing can be moved from one folder to another.
    private static let first: Int32 = 2

    let number: Int32

    static func ofKernel() -> Result<LandlockVersion, SandboxError> {
        let number = sandboxkit_landlock_version()
        if number >= first { return .success(LandlockVersion(number: number)) }
        let cause =
            number > 0
            ? "the kernel's Landlock is too old (version \(number) of at least \(first))"
            : "the kernel has no Landlock (\(MemoryFile.reason(-number)))"
        return .failure(SandboxError(.unavailable, cause))
    }

    /// All that it can keep somebody from.
    var rights: LandlockRights {
        var rights = LandlockRights(rawValue: (1 << 14) - 1)
        if number >= 3 { rights.insert(.truncate) }
        if number >= 5 { rights.insert(.control) }
        return rights
    }

    /// The processes and abstract sockets of others, as the kernel numbers them.
    var scopes: UInt64 { number >= 6 ? 3 : 0 }

    /// What the filter of system calls has to do in its place.
    var filter: FilterKinds { number >= 3 ? .shared : [.shared, .noTruncating] }

    /// What a person should know.
    var weaknesses: [String] {
        number >= 6 ? [] : ["this kernel's Landlock does not keep commands from signals to other processes of yours"]
    }
}

/// What may be done with a file or a folder and all beneath it, as the kernel numbers it.
struct LandlockRights: OptionSet {
    let rawValue: UInt64

    static let execute = LandlockRights(rawValue: 1 << 0)
    static let writeFile = LandlockRights(rawValue: 1 << 1)
    static let readFile = LandlockRights(rawValue: 1 << 2)
    static let list = LandlockRights(rawValue: 1 << 3)
    /// To remove, make and move all but devices and sockets.
    static let change = LandlockRights(rawValue: 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 10 | 1 << 12 | 1 << 13)
    static let truncate = LandlockRights(rawValue: 1 << 14)
    /// `ioctl` on a device.
    static let control = LandlockRights(rawValue: 1 << 15)

    static let read: LandlockRights = [.execute, .readFile, .list]
    static let write: LandlockRights = [.read, .writeFile, .change, .truncate]
    static let device: LandlockRights = [.readFile, .writeFile, .truncate, .control]
    /// Those that something that is no folder can have.
    static let ofFiles: LandlockRights = [.execute, .writeFile, .readFile, .truncate, .control]
}
