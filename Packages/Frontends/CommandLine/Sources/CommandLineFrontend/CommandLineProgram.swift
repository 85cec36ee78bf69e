import Capabilities
import Glibc
import HostKit
import JSON
public import Registry
import TerminalKit

/// A program with a command line, made from what the features register.
///
/// ```swift
/// let program = CommandLineProgram(name: "mybench", version: "1.0", features: [BuiltInFeature(ChatFeature.self)])
/// exit(program.run(CommandLine.arguments))
/// ```
public struct CommandLineProgram: Sendable {
    private let name: String
    private let version: String
    private let features: [BuiltInFeature]

    /// - Parameter features: the features of the program; those of the command line and the terminal are added.
    public init(name: String, version: String, features: [BuiltInFeature]) {
        self.name = name
        self.version = version
        self.features =
            [
                BuiltInFeature(essential: CommandLineFeature.self), BuiltInFeature(essential: ScreenFeature.self),
                BuiltInFeature(essential: TerminalFeature.self),
            ] + features
    }

    /// Runs the command and returns the exit code. Must be called on the main thread.
    ///
    /// - Parameter arguments: all arguments of the process, with the program's name first.
    public func run(_ arguments: [String]) -> Int32 {
        let environment = MainLoop.prepare()
        let streams = StandardStreams()
        let (options, words, problem) = CommonOptions.take(
            from: Array(arguments.dropFirst()), settings: SettingOption.all(Workbench.essentials + features),
            verbatim: VerbatimWords(features.compactMap { $0.type?.manifest }))
        // Swift reads the arguments from /proc. If that fails, every command would look like a call without arguments,
        // which prints help and succeeds.
        if let failure: any Failure = arguments.isEmpty ? UsageError.noArguments : problem {
            let errors = ErrorPrinter(
                streams, format: options.format ?? .text, level: .none, isVerbose: options.isVerbose, program: name,
                redactor: Redactor(),
                width: Terminal(fileDescriptor: 2).isTerminal ? Terminal(fileDescriptor: 2).size().columns : nil)
            return errors.print(failure).rawValue
        }
        if !options.wantsHelp { for feature in features { feature.type?.prepare(for: words) } }
        let workbench = Workbench(
            name: name, version: version, features: features, options: options.workbench, environment: environment)
        let command = Command(workbench: workbench, options: options, words: words, streams: streams)
        return command.run().rawValue
    }
}
