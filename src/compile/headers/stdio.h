#pragma once
// printf is known to the compiler; where it is not wanted, the harness has made it a name that does
// nothing.
