// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Serve",
    products: [
        .library(name: "ServeFrontend", targets: ["ServeFrontend"]),
        .library(name: "ServeTesting", targets: ["ServeTesting"]),
        // For tests of the root, which start it. Nothing installs it.
        .executable(name: "serve-test-program", targets: ["serve-test-program"]),
    ],
    dependencies: [
        .package(path: "../../Core"), .package(path: "../../Kits/Cryptography"), .package(path: "../../Kits/FileKit"),
        .package(path: "../../Kits/HTTPKit"), .package(path: "../../Kits/LoopKit"),
        .package(path: "../../Kits/MCPKit"), .package(path: "../../Kits/ProcessKit"),
        .package(path: "../../Kits/RPCKit"), .package(path: "../CommandLine"),
    ],
    targets: [
        .target(
            name: "ServeFrontend",
            dependencies: [
                .product(name: "Core", package: "Core"), .product(name: "Cryptography", package: "Cryptography"),
                .product(name: "FileKit", package: "FileKit"), .product(name: "HTTPServer", package: "HTTPKit"),
                .product(name: "LoopKit", package: "LoopKit"), .product(name: "MCPKit", package: "MCPKit"),
                .product(name: "RPCKit", package: "RPCKit"),
            ]),
        // What tests serve, and what they do as clients.
        .target(name: "ServeTesting", dependencies: [.product(name: "Core", package: "Core")]),
        // The whole program with what tests serve, for clients that start programs.
        .executableTarget(
            name: "serve-test-program",
            dependencies: [
                "ServeFrontend", "ServeTesting", .product(name: "Core", package: "Core"),
                .product(name: "CommandLineFrontend", package: "CommandLine"),
            ]),
        .testTarget(
            name: "ServeFrontendTests",
            dependencies: [
                "ServeFrontend", "ServeTesting", "serve-test-program", .product(name: "Core", package: "Core"),
                .product(name: "CoreTesting", package: "Core"), .product(name: "FileKit", package: "FileKit"),
                .product(name: "HTTPKit", package: "HTTPKit"), .product(name: "HTTPServer", package: "HTTPKit"),
                .product(name: "LoopKit", package: "LoopKit"), .product(name: "MCPKit", package: "MCPKit"),
                .product(name: "ProcessKit", package: "ProcessKit"), .product(name: "RPCKit", package: "RPCKit"),
            ]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
