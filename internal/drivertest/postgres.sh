#!/bin/sh
# A PostgreSQL server for the tests of this folder.
#
#   postgres.sh find          print the folder of PostgreSQL's programs, after installing Debian's package if it has to be
#   postgres.sh serve PORT    run a server with a new database on 127.0.0.1:PORT until stdin ends; "ready" and the password
#                             of its user postgres are printed when it accepts connections
#
# Where there is no PostgreSQL and none can be installed, a line on stderr says why, and the exit status is 3. To install it
# takes root and apt-get. The server is no root's, as it refuses to be, and leaves nothing behind.
set -eu

missing() {
	echo "SKIPPED: tests against PostgreSQL: $*" >&2
	exit 3
}

programs() {
	for dir in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -rV) /usr/pgsql*/bin /usr/local/pgsql/bin \
		"$(dirname "$(command -v initdb || echo /nowhere/initdb)")"; do
		if [ -x "$dir/initdb" ] && [ -x "$dir/postgres" ]; then
			echo "$dir"
			return
		fi
	done
	return 1
}

apt() {
	DEBIAN_FRONTEND=noninteractive timeout "$1" apt-get -y -qq -o Acquire::Retries=2 -o Acquire::http::Timeout=15 \
		-o Acquire::https::Timeout=15 -o DPkg::Lock::Timeout=60 -o Dpkg::Options::=--force-confold "$2" ${3:+--no-install-recommends "$3"} >&2
}

install_package() {
	command -v apt-get >/dev/null || missing "there is none, and no apt-get to install it"
	[ "$(id -u)" = 0 ] || missing "there is none, and only root can install it"
	echo "installing PostgreSQL for the tests" >&2
	conf=/etc/postgresql-common/createcluster.conf
	if [ ! -e "$conf" ]; then # the package would make a database of its own, and start a server for it
		mkdir -p "${conf%/*}"
		echo 'create_main_cluster = false' >"$conf"
	fi
	apt 240 install postgresql || { apt 120 update && apt 240 install postgresql; } || missing "apt-get could not install it"
}

find_programs() {
	programs || { install_package && programs; } || missing "what apt-get installed was not found"
}

serve() {
	bin=$(find_programs)
	dir=$(mktemp -d "${TMPDIR:-/tmp}/retry-postgres.XXXXXX")
	as=
	if [ "$(id -u)" = 0 ]; then
		user=postgres
		id "$user" >/dev/null 2>&1 || user=nobody
		chown "$user" "$dir"
		as="setpriv --reuid=$(id -u "$user") --regid=$(id -g "$user") --clear-groups --"
	fi
	server=
	trap stop EXIT
	trap 'exit 1' HUP INT PIPE TERM
	cd "$dir"
	(umask 077 && od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$dir/password")
	[ -z "$as" ] || chown "$user" "$dir/password"
	$as "$bin/initdb" -D "$dir/data" -U postgres -A scram-sha-256 --pwfile="$dir/password" -E UTF8 --locale=C --no-sync >"$dir/log" 2>&1 ||
		{ cat "$dir/log" >&2; exit 1; }
	$as "$bin/postgres" -D "$dir/data" -p "$1" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off \
		-c max_connections=40 -c shared_buffers=16MB -c deadlock_timeout=50ms >"$dir/log" 2>&1 </dev/null &
	server=$!
	until grep -qs '^ready' "$dir/data/postmaster.pid"; do
		kill -0 "$server" 2>/dev/null || { cat "$dir/log" >&2; exit 1; }
		sleep 0.1
	done
	echo "ready $(cat "$dir/password")"
	cat >/dev/null
}

stop() {
	if [ -n "$server" ]; then
		kill -QUIT "$server" 2>/dev/null || true # at once: nothing in it is kept
		wait "$server" || true
	fi
	cd /
	rm -rf "$dir"
}

case "${1:-}" in
find) find_programs ;;
serve) serve "${2:?the port}" ;;
*)
	sed -n 's/^# \{0,1\}//;2,9p' "$0" >&2
	exit 2
	;;
esac
