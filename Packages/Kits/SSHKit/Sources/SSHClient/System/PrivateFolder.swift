import Capabilities
import FileKit
import Glibc
import SSHCore

/// A folder for this user alone, with a short path, as sockets need one. Folders of processes that were killed are removed by the
/// next one.
struct PrivateFolder: Sendable {
    let path: String

    private static let prefix = "martlet-ssh-"

    /// Makes a folder in that of the user's session, or else in `/tmp`.
    init(_ environment: [String: String]) throws(SSHError) {
        let session = environment["XDG_RUNTIME_DIR"].flatMap { Self.isPlain($0) && Files.exists($0) ? $0 : nil }
        let place = session ?? "/tmp"
        Self.sweep(place)
        var template = Array("\(place)/\(Self.prefix)\(getpid())-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw SSHError(
                .systemFailed, "no folder can be made in \(place) for the system's ssh: \(SystemError(errno))")
        }
        path = String(decoding: template.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Short, and without what ssh or a shell would read as something else.
    private static func isPlain(_ path: String) -> Bool {
        path.utf8.first == UInt8(ascii: "/") && path.utf8.count < 60
            && path.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789/-_.".unicodeScalars.contains($0))
            }
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    func remove() {
        // What cannot be removed now is removed by the next process.
        do throws(FileError) { try Self.remove(path) } catch {}
    }

    /// It has no folders.
    private static func remove(_ path: String) throws(FileError) {
        for entry in try Files.list(path) { try Files.remove("\(path)/\(entry.name)") }
        unsafe rmdir(path)
    }

    private static func sweep(_ place: String) {
        do throws(FileError) {
            for entry in try Files.list(place) where entry.name.hasPrefix(prefix) {
                let number = entry.name.dropFirst(prefix.count).prefix { $0 != "-" }
                guard let process = pid_t(number), kill(process, 0) != 0, errno == ESRCH,
                    isOwn("\(place)/\(entry.name)")
                else { continue }
                try remove("\(place)/\(entry.name)")
            }
        } catch {
            // They stay.
        }
    }

    /// Whether it is a folder of this user, which nobody else can put something in the place of: others may make entries in
    /// `/tmp`, also links, but not rename those of this user.
    private static func isOwn(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == getuid()
    }
}
