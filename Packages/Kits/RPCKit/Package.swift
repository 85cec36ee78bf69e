// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "RPCKit",
    products: [.library(name: "RPCKit", targets: ["RPCKit"])],
    dependencies: [.package(path: "../../Core"), .package(path: "../LoopKit"), .package(path: "../ProcessKit")],
    targets: [
        .target(
            name: "RPCKit",
            dependencies: [
                .product(name: "Core", package: "Core"), .product(name: "LoopKit", package: "LoopKit"),
                .product(name: "ProcessKit", package: "ProcessKit"),
            ]),
        .testTarget(
            name: "RPCKitTests",
            dependencies: [
                "RPCKit", .product(name: "Core", package: "Core"), .product(name: "CoreTesting", package: "Core"),
                .product(name: "LoopKit", package: "LoopKit"), .product(name: "ProcessKit", package: "ProcessKit"),
            ]),
    ])

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
