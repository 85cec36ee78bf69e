import CommandLineFrontend
import Glibc
import Registry
import RunnerFrontend

let program = CommandLineProgram(
    name: "martlet", version: "0.1.0", features: [BuiltInFeature(essential: RunnerFeature.self)] + BuiltInFeatures.all)
exit(program.run(CommandLine.arguments))
