import Foundation

/// The build of the new host: a SwiftPM of its own, because the one that runs this plugin builds this checkout only.
struct HostBuild {
    private let request: Request
    private let checkout: String
    private let swift: URL

    init(_ request: Request, checkout: String, swift: URL) {
        self.request = request
        self.checkout = checkout
        self.swift = swift
    }

    private var configuration: String { request.isDebug ? "debug" : "release" }
    private var arguments: [String] {
        [
            "build", "--package-path", request.folder.path, "--scratch-path", request.objects.path,
            "--configuration", configuration,
        ] + (request.isDebug ? [] : small)
    }
    /// One file with the runtime in it and without what is never called, linked as the checkout links its own program.
    private var small: [String] {
        let compiler = ["-use-ld=lld", "-L\(checkout)/Apps/link", "-Xclang-linker", "-static-libgcc"]
        let linker = ["--gc-sections", "--no-export-dynamic"]
        return ["--static-swift-stdlib", "--disable-local-rpath"] + compiler.flatMap { ["-Xswiftc", $0] }
            + linker.flatMap { ["-Xlinker", $0] }
    }

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
