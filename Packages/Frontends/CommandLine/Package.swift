// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "CommandLine",
    products: [.library(name: "CommandLineFrontend", targets: ["CommandLineFrontend"])],
    dependencies: [
        .package(path: "../../Core"),
        .package(path: "../../Kits/FileKit"), .package(path: "../../Kits/LoopKit"),
        .package(path: "../../Kits/TerminalKit"),
        .package(path: "../Host"),
    ],
    targets: [
        .target(
            name: "CommandLineFrontend",
            dependencies: [
                .product(name: "Core", package: "Core"),
                .product(name: "FileKit", package: "FileKit"),
                .product(name: "HostKit", package: "Host"),
                .product(name: "LoopKit", package: "LoopKit"),
                .product(name: "TerminalKit", package: "TerminalKit"),
            ]),
        .testTarget(
            name: "CommandLineFrontendTests",
            dependencies: [
                "CommandLineFrontend",
                .product(name: "Core", package: "Core"),
                .product(name: "CoreTesting", package: "Core"),
                .product(name: "HostKit", package: "Host"),
                .product(name: "LoopKit", package: "LoopKit"),
                .product(name: "TerminalKit", package: "TerminalKit"),
            ]),
    ]
)

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
