// swift-tools-version: 6.2
import PackageDescription

// A package of its own, because libFuzzer brings the main function and every build without it would fail to link.
let package = Package(
    name: "fuzz",
    dependencies: [
        .package(path: "../../Packages/Core"), .package(path: "../../Packages/Kits/Cryptography"),
        .package(path: "../../Packages/Kits/ExpressionKit"), .package(path: "../../Packages/Kits/HTTPKit"),
        .package(path: "../../Packages/Kits/MCPKit"),
        .package(path: "../../Packages/Kits/ModelKit"),
        .package(path: "../../Packages/Features/Runner"), .package(path: "../../Packages/Kits/RPCKit"),
        .package(path: "../../Packages/Kits/SchemaKit"), .package(path: "../../Packages/Kits/SSHKit"),
        .package(path: "../../Packages/Kits/TerminalKit"), .package(path: "../../Packages/Kits/TOMLKit"),
        .package(path: "../../Packages/Kits/TraceKit"), .package(path: "../../Packages/Kits/YAMLKit"),
    ],
    targets: [
        .target(name: "CFuzzer"),
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "CFuzzer", .product(name: "Core", package: "Core"),
                .product(name: "Cryptography", package: "Cryptography"),
                .product(name: "ExpressionKit", package: "ExpressionKit"),
                .product(name: "HTTPKit", package: "HTTPKit"), .product(name: "HTTPServer", package: "HTTPKit"),
                .product(name: "MCPKit", package: "MCPKit"), .product(name: "ModelKit", package: "ModelKit"),
                .product(name: "Runner", package: "Runner"),
                .product(name: "RPCKit", package: "RPCKit"), .product(name: "SchemaKit", package: "SchemaKit"),
                .product(name: "SSHCore", package: "SSHKit"),
                .product(name: "TerminalKit", package: "TerminalKit"), .product(name: "TOMLKit", package: "TOMLKit"),
                .product(name: "TraceKit", package: "TraceKit"), .product(name: "YAMLKit", package: "YAMLKit"),
            ]),
    ]
)

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
