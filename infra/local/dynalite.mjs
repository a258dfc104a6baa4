// dynalite as a process of its own. Its own command line cannot listen on a port that the system picks.
// Arguments: port (0 picks one) and, where the tables shall outlive it, a folder.

import dynalite from "dynalite";

const [port = "0", path] = process.argv.slice(2);
const server = dynalite({ ...(path ? { path } : {}), createTableMs: 0, updateTableMs: 0, deleteTableMs: 0 });
server.listen(Number(port), "127.0.0.1", () => process.send({ port: server.address().port }));
