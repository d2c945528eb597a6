// opid: the command line, with the real world behind it.
#include <exception>
#include <iostream>

#include "app/command_host.hpp"
#include "surfaces/cli/command_line.hpp"

int main(int argc, char** argv) {
    try {
        opid::CommandHost host({}, std::cout, std::cerr);
        return opid::run_command_line(argc, argv, host, std::cout, std::cerr);
    } catch (const std::exception& error) {
        std::cerr << "opid: " << error.what() << std::endl;
        return opid::exit_problem;
    }
}
