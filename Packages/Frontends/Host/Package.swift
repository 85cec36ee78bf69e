// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Host",
    products: [
        .library(name: "HostKit", targets: ["HostKit"]),
        .library(name: "HostTesting", targets: ["HostTesting"]),
    ],
    dependencies: [
        .package(path: "../../Core"),
        .package(path: "../../Kits/FileKit"),
        .package(path: "../../Kits/ProcessKit"),
    ],
    targets: [
        .target(
            name: "HostKit",
            dependencies: [
                .product(name: "Core", package: "Core"),
                .product(name: "FileKit", package: "FileKit"),
                .product(name: "ProcessKit", package: "ProcessKit"),
            ]),
        .target(
            name: "HostTesting",
            dependencies: [
                "HostKit",
                .product(name: "Core", package: "Core"),
                .product(name: "CoreTesting", package: "Core"),
                .product(name: "FileKit", package: "FileKit"),
            ]),
        .testTarget(
            name: "HostKitTests",
            dependencies: [
                "HostKit",
                "HostTesting",
                .product(name: "Core", package: "Core"),
                .product(name: "CoreTesting", package: "Core"),
                .product(name: "FileKit", package: "FileKit"),
            ]),
    ]
)

for target in package.targets where target.type != .system && target.type != .plugin {
    target.swiftSettings = [
        .swiftLanguageMode(.v6), .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"), .strictMemorySafety(), .treatAllWarnings(as: .error),
    ]
}
