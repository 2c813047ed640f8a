#!/bin/sh
# Databases on one PostgreSQL server (13 or newer), by psql. Every action can be run again after it was cut off anywhere.
# The operator's secrets: pg_host, pg_password, and where they differ pg_port (5432) and pg_user (postgres), a superuser.
set -eu
PATH=$BUNDLE_HELPERS/bin:$PATH

fail() {
  printf '%s\n' "$1" >"$BUNDLE_OUTPUT/message"
  exit 1
}

secret() {
  bundle-input "secrets.$1" 2>/dev/null || printf %s "$2"
}

# A plain name in SQL, of any id. It follows from the id alone: what an action that failed has left is found again.
name_of() {
  printf 'osb_%s' "$(printf %s "$1" | sha256sum | cut -c 1-32)"
}

# Runs SQL from stdin. psql ends with 2 where it could not connect: then the server may be back later.
sql() {
  psql -X -q -A -t -v ON_ERROR_STOP=1 -v "database=$database" -v "owner=$owner" -v "user=${user-}" "$@" || {
    [ $? -ne 2 ] || pg_isready -q || {
      echo 'The PostgreSQL server does not answer.' >"$BUNDLE_OUTPUT/message"
      exit 75
    }
    fail 'PostgreSQL refused it; the log of the operation says why.'
  }
}

# Provision and update: the limits and extensions that the plan and the parameters ask for.
apply_plan() {
  case $(bundle-input plan.name) in
    small) connections=5 ;;
    large) connections=50 ;;
    *) fail 'This version of the bundle does not know the plan.' ;;
  esac
  sql -v "connections=$connections" <<'end'
ALTER DATABASE :"database" CONNECTION LIMIT :connections;
end
  bundle-input 'parameters.extensions[]' 2>/dev/null | while read -r extension; do
    sql -v "extension=$extension" "$database" <<'end'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS :"extension" SCHEMA public;
end
  done
}

# The database belongs to the superuser, so that nobody else lifts its limits. What applications make in it belongs to the
# owner, a role that nobody logs in as.
provision() {
  bundle-progress 'creating the database'
  sql <<'end'
SELECT format('CREATE ROLE %I NOLOGIN', :'owner') WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'owner') \gexec
SELECT format('CREATE DATABASE %I TEMPLATE template0', :'database')
  WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'database') \gexec
REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
GRANT CONNECT, TEMPORARY ON DATABASE :"database" TO :"owner";
end
  sql "$database" <<'end'
GRANT ALL ON SCHEMA public TO :"owner";
end
  bundle-progress 'applying the plan'
  apply_plan
  bundle-state set database "$database"
}

bind() {
  password=$(bundle-input bindParameters.password 2>/dev/null || od -An -v -N24 -tx1 /dev/urandom | tr -d ' \n')
  sql <<'end'
SELECT format('CREATE ROLE %I IN ROLE %I', :'user', :'owner')
  WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'user') \gexec
ALTER ROLE :"user" LOGIN;
ALTER ROLE :"user" SET role = :'owner';
end
  # psql asks for it twice and sends only what the server compares with: the password is in no log of the server's.
  printf '%s\n%s\n' "$password" "$password" | sql -c "\\password $user"
  bundle-state set --binding user "$user"
  bundle-credentials host="$PGHOST" port:="$PGPORT" database="$database" user="$user"
  printf %s "$password" | bundle-credentials password
  case $PGHOST in *:*) address="[$PGHOST]" ;; *) address=$PGHOST ;; esac
  printf 'postgres://%s:%s@%s:%s/%s' "$user" "$password" "$address" "$PGPORT" "$database" | bundle-credentials uri
}

# Ends its sessions, hands over what was made under its own name, and drops it.
unbind() {
  there=$(sql -c "SELECT count(*) FROM pg_roles WHERE rolname = '$user'")
  [ "$there" = 1 ] || return 0
  sql <<'end' >/dev/null
ALTER ROLE :"user" NOLOGIN;
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = :'user';
end
  sql "$database" <<'end'
REASSIGN OWNED BY :"user" TO :"owner";
DROP OWNED BY :"user";
DROP ROLE :"user";
end
}

# Bindings that failed may have left logins: they are members of the owner, and go with it.
deprovision() {
  bundle-progress 'dropping the database'
  sql <<'end'
SET client_min_messages = warning;
DROP DATABASE IF EXISTS :"database" WITH (FORCE);
SELECT format('DROP ROLE %I', login.rolname) FROM pg_auth_members
  JOIN pg_roles login ON login.oid = member JOIN pg_roles role ON role.oid = roleid
  WHERE role.rolname = :'owner' \gexec
DROP ROLE IF EXISTS :"owner";
end
}

PGHOST=$(secret pg_host '')
PGPORT=$(secret pg_port 5432)
PGUSER=$(secret pg_user postgres)
PGPASSWORD=$(secret pg_password '')
PGDATABASE=postgres PGCONNECT_TIMEOUT=10
export PGHOST PGPORT PGUSER PGPASSWORD PGDATABASE PGCONNECT_TIMEOUT
[ -n "$PGHOST" ] || fail 'The operator has to name the server: the secret pg_host is missing.'

owner=$(name_of "$(bundle-input instance.id)")
# A name that was given once stays, whatever a later version of this bundle would choose.
database=$(bundle-state get database 2>/dev/null || printf %s "$owner")
case $1 in
  bind | unbind)
    user=$(bundle-state get --binding user 2>/dev/null || name_of "$(bundle-input instance.id)/$(bundle-input binding.id)")
    "$1"
    ;;
  provision | deprovision) "$1" ;;
  update) apply_plan ;;
  *) exit 8 ;;
esac
