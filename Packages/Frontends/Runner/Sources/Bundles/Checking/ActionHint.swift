import Capabilities

/// What is said of an action that is not there: the one that was most likely meant, or what there is instead.
enum ActionHint {
    /// Words that people try who want to run a program, or to ask a server something.
    private static let programs: Set<String> = [
        "bash", "cmd", "command", "docker", "exec", "git", "make", "node", "process", "python", "script", "sh", "shell",
        "subprocess", "system", "zsh",
    ]
    private static let requests: Set<String> = ["curl", "fetch", "http", "https", "request", "url", "webhook", "wget"]

    static func text(for name: String, among names: [String]) -> String {
        let near = Suggestion.text(for: name, among: names)
        let parts = name.lowercased().split { !$0.isLetter }.map(String.init)
        if parts.contains(where: programs.contains) {
            return "\(near); 'shell.run' runs a program in a sandbox"
        }
        if parts.contains(where: requests.contains) {
            return "\(near); 'http.request' sends a request to a server"
        }
        if !near.isEmpty { return near }
        // Those that the same feature has.
        let family = name.prefix { $0 != "." } + "."
        let relatives = names.filter { $0.hasPrefix(family) }.sorted()
        if !relatives.isEmpty {
            let more = relatives.count > 8 ? ", …" : ""
            return "; there is \(relatives.prefix(8).joined(separator: ", "))\(more)"
        }
        return "; 'martlet help' lists the commands, each of which is an action"
    }
}
