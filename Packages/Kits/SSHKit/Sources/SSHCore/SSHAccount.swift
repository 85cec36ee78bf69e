import Capabilities
import FileKit
import Glibc

/// The user whose files are read, and the machine: what ssh's settings may refer to.
public struct SSHAccount: Sendable {
    /// The number of the user.
    public var userID: UInt32
    /// The name of the user on this machine.
    public var name: String
    /// The home directory of the user database. ssh ignores `HOME`, but for the names of included files.
    public var home: String
    /// The name of this machine, possibly with its domain.
    public var machine: String
    /// The variables that settings may refer to.
    public var environment: [String: String]
    /// Whether there may be a ticket of Kerberos, without which no authentication by GSSAPI succeeds.
    public var hasKerberosTicket: Bool

    /// Takes facts as they are.
    public init(
        userID: UInt32, name: String, home: String, machine: String, environment: [String: String],
        hasKerberosTicket: Bool = false
    ) {
        (self.userID, self.name, self.home, self.machine) = (userID, name, home, machine)
        (self.environment, self.hasKerberosTicket) = (environment, hasKerberosTicket)
    }

    /// The user of this process, by the system's user database.
    public static func current(environment: [String: String]) throws(SSHError) -> SSHAccount {
        let user = getuid()
        guard let entry = entry(of: user) else {
            throw SSHError(.noUser, "the user database has no user \(user), so there are no settings of SSH")
        }
        var name = [CChar](repeating: 0, count: 256)
        // A name that does not fit is cut, as in ssh.
        let machine = unsafe gethostname(&name, name.count - 1) == 0 ? text(name) : "localhost"
        let hasTicket = environment["KRB5CCNAME"] != nil || Files.exists("/tmp/krb5cc_\(user)")
        return SSHAccount(
            userID: user, name: entry.name, home: entry.home, machine: machine, environment: environment,
            hasKerberosTicket: hasTicket)
    }

    /// The name of this machine without its domain.
    var shortMachine: String { String(machine.prefix { $0 != "." }) }

    /// The home directory of another user. Nil if there is none.
    static func home(of name: String) -> String? {
        unsafe lookUp { unsafe getpwnam_r(name, $0, $1, $2, $3) }?.home
    }

    /// What the user database has about a user.
    struct Entry {
        let name, home: String
        let group: UInt32
    }

    static func entry(of user: UInt32) -> Entry? {
        unsafe lookUp { unsafe getpwuid_r(user, $0, $1, $2, $3) }
    }

    private static func lookUp(
        _ call: (
            UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
            UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
        ) -> Int32
    ) -> Entry? {
        var record = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 1 << 14)
        return unsafe buffer.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress, unsafe call(&record, start, buffer.count, &found) == 0,
                unsafe found != nil, let name = unsafe record.pw_name, let home = unsafe record.pw_dir
            else { return nil }
            return unsafe Entry(name: String(cString: name), home: String(cString: home), group: record.pw_gid)
        }
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
