// opid as main.cpp makes it, with faults between its parts. OPID_CRASH_LIST=1 prints the crash points.
#include <cstdlib>
#include <exception>
#include <iostream>

#include "app/command_host.hpp"
#include "crash_points.hpp"
#include "faulty_ports.hpp"
#include "surfaces/cli/command_line.hpp"

int main(int argc, char** argv) {
    using namespace opid;
    if (std::getenv("OPID_CRASH_LIST") != nullptr) {
        test::list_points(std::cout);
        return 0;
    }
    const char* fault_file = std::getenv("OPID_STORE_FAULT_FILE");
    ApplicationHooks hooks;
    hooks.wrap_store = [file = std::string(fault_file == nullptr ? "" : fault_file)](
                           OperationStore& inner, Timers& timers) { return test::faulty_store(inner, timers, file); };
    hooks.wrap_upstream = test::crashing_upstream;
    hooks.wrap_handler = test::crashing_handler;
    try {
        CommandHost host(std::move(hooks), std::cout, std::cerr);
        return run_command_line(argc, argv, host, std::cout, std::cerr);
    } catch (const std::exception& error) {
        std::cerr << "opid: " << error.what() << std::endl;
        return exit_problem;
    }
}
