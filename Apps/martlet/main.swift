import CommandLineFrontend
import Glibc

let program = CommandLineProgram(name: "martlet", version: "0.1.0", features: BuiltInFeatures.all)
exit(program.run(CommandLine.arguments))
