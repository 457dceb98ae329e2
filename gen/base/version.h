#pragma once
#define GENERATOR_VERSION "0.1.0"
