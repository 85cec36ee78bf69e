import Capabilities

/// The settings of ssh: the user's file, the system's, and all that they include, read once for any number of hosts.
///
///     let config = try SSHConfig(of: SSHAccount.current(environment: variables))
///     let settings = try config.settings(for: SSHAddress("web"))
///     settings.hostName                                   // as `ssh -G web` prints it
public struct SSHConfig: Sendable {
    private let files: [ConfigFile]
    private let account: SSHAccount
    /// The file that was read in place of the usual ones.
    private var replacement: String?

    /// Reads `~/.ssh/config` and the file of the system; each may be missing.
    ///
    /// Throws `.configuration` for files that ssh refuses for every host, such as one that others can write.
    public init(of account: SSHAccount, system: String = "/etc/ssh/ssh_config") throws(SSHError) {
        var loader = ConfigLoader(account)
        loader.systemFolder = PathParts(system).folder
        let users = try loader.load("\(account.home)/.ssh/config", isUsers: true, isChecked: true)
        let systems = try loader.load(system, isUsers: false, isChecked: false)
        files = [users, systems].compactMap(\.self)
        self.account = account
    }

    /// Reads one file instead of both, as `ssh -F` does. Others may be able to write it.
    public init(file: String, of account: SSHAccount) throws(SSHError) {
        var loader = ConfigLoader(account)
        guard let file = try loader.load(file, isUsers: true, isChecked: false) else {
            throw SSHError(.configuration, "cannot read the settings of SSH: there is no file \(file)")
        }
        files = [file]
        self.account = account
        replacement = file.path
    }

    /// Reads a text in place of the user's file, without the files that it includes.
    init(text: [UInt8], named path: String, of account: SSHAccount) throws(SSHError) {
        var loader = ConfigLoader(account)
        loader.followsIncludes = false
        files = [try loader.parse(text, path, isUsers: true)]
        self.account = account
    }

    /// The settings for a host. Throws `.configuration` with file and line for what ssh refuses too.
    public func settings(for address: SSHAddress) throws(SSHError) -> SSHSettings {
        var reader = SettingsReader(address, account)
        for file in files { reader.read(file) }
        var settings = try reader.settings()
        settings.configurationFile = replacement
        return settings
    }

    /// A name that a line of the settings gives to a host.
    public struct ListedHost: Sendable, Hashable {
        /// What ssh is called with.
        public let name: String
        /// The first line that has it.
        public let place: SSHFilePlace
    }

    /// The names that stand in `Host` lines without wildcards, in the order of the files, each once.
    public var hosts: [ListedHost] {
        var listed: [ListedHost] = []
        var names: Set<String> = []
        func visit(_ file: ConfigFile) {
            for line in file.lines {
                line.included.forEach(visit)
                guard line.keyword == "host", line.isText else { continue }
                for name in line.arguments ?? [] where SSHAddress.isHost(name) && names.insert(name).inserted {
                    listed.append(ListedHost(name: name, place: SSHFilePlace(file: file.path, line: line.number)))
                }
            }
        }
        files.forEach(visit)
        return listed
    }
}
