import FileKit
import Glibc

/// Whether a file is one that only its owner can have written, by the rules of `secure_permissions` in Debian's ssh.
enum FileProtection {
    /// The system's or the user's file, which nobody else can write. A group that has nobody but the owner is not
    /// somebody else: systems that give each user such a group let it write by default.
    static func isProtected(_ path: String, for user: UInt32) -> Bool {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return false }
        guard status.st_uid == 0 || status.st_uid == user, status.st_mode & 0o002 == 0 else { return false }
        return status.st_mode & 0o020 == 0 || isPrivate(status.st_gid, of: status.st_uid, for: user)
    }

    private static func isPrivate(_ group: UInt32, of owner: UInt32, for user: UInt32) -> Bool {
        guard let members = members(of: group), let entry = SSHAccount.entry(of: owner) else { return false }
        guard members.isEmpty || members == [entry.name] else { return false }
        let others = usersByFile(of: group)
        guard others.allSatisfy({ $0 == user }) else { return false }
        return !members.isEmpty || !others.isEmpty || entry.group == group
    }

    /// The names that the group database lists. Nil if there is no such group.
    private static func members(of id: UInt32) -> [String]? {
        var record = unsafe group()
        var found: UnsafeMutablePointer<group>?
        var buffer = [CChar](repeating: 0, count: 1 << 16)
        return unsafe buffer.withUnsafeMutableBufferPointer { buffer in
            guard unsafe getgrgid_r(id, &record, buffer.baseAddress, buffer.count, &found) == 0, unsafe found != nil
            else { return nil }
            var members: [String] = []
            var next = unsafe record.gr_mem
            while let pointer = unsafe next, let name = unsafe pointer.pointee {
                unsafe members.append(String(cString: name))
                unsafe next = pointer + 1
            }
            return members
        }
    }

    /// The numbers of the users whose first group this is, by the file. The functions of C that list users are not for
    /// several threads.
    private static func usersByFile(of group: UInt32) -> [UInt32] {
        let text: [UInt8]
        // Without the file there are only the users that were asked for one by one.
        do throws(FileError) { text = try Files.read("/etc/passwd", limit: 1 << 24) } catch { return [] }
        return text.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let fields = line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            guard fields.count > 3, UInt32(String(decoding: fields[3], as: UTF8.self)) == group else { return nil }
            return UInt32(String(decoding: fields[2], as: UTF8.self))
        }
    }
}
