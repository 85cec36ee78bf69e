import Foundation

/// The build of the new host: a SwiftPM of its own, because the one that runs this plugin builds this checkout only.
struct HostBuild {
    private let request: Request
    private let swift: URL

    init(_ request: Request, swift: URL) {
        self.request = request
        self.swift = swift
    }

    private var configuration: String { request.isDebug ? "debug" : "release" }
    private var arguments: [String] {
        [
            "build", "--package-path", request.folder.path, "--scratch-path", request.objects.path,
            "--configuration", configuration,
        ] + (request.isDebug ? [] : Self.small)
    }
    /// One file with the runtime in it and without what is never called.
    private static let small = ["--static-swift-stdlib", "-Xswiftc", "-use-ld=lld", "-Xlinker", "--gc-sections"]

    /// The command as a person would type it.
    var words: String { (["swift"] + arguments).joined(separator: " ") }
    /// Where the program is after the build.
    var program: String { request.objects.appending(path: "\(configuration)/\(request.name)").path }

    func run() throws {
        let process = Process()
        process.executableURL = swift
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Refusal("the build failed, see above; the files are in \(request.folder.path)")
        }
    }
}
