import FileKit

/// The program itself, as somebody has set it up who asks a server of models on this machine.
struct MartletProgram {
    static let path = ".build/release/martlet"

    /// Where the program keeps all that is its own.
    let home: String

    /// - Parameter folder: a fresh one, in which the program makes itself at home.
    init(in folder: String) throws {
        home = "\(folder)/home"
        try Files.makeDirectories("\(home)/config")
        let settings = #"{"chat": {"model": "openai/gpt-5-mini"}}"#
        try Files.writeAtomically(Array(settings.utf8), to: "\(home)/config/config.json")
    }

    /// The variables with which it finds its home and the server.
    func variables(port: Int) -> [String: String] {
        Self.server(port: port).merging(["MARTLET_HOME": home]) { _, new in new }
    }

    /// The variables by which every client of OpenAI finds a server.
    static func server(port: Int) -> [String: String] {
        ["OPENAI_BASE_URL": "http://127.0.0.1:\(port)/v1", "OPENAI_API_KEY": "none"]
    }
}
