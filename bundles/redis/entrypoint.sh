#!/bin/sh
# Prefixes of keys on one Redis server (7 or newer), by redis-cli. Every action can be run again after it was cut off anywhere.
# The operator's secrets: redis_host, redis_password, and where they differ redis_port (6379) and redis_user (default).
set -eu
PATH=$BUNDLE_HELPERS/bin:$PATH

fail() {
  printf '%s\n' "$1" >"$BUNDLE_OUTPUT/message"
  exit 1
}

secret() {
  bundle-input "secrets.$1" 2>/dev/null || printf %s "$2"
}

hash() {
  printf %s "$1" | sha256sum | cut -d ' ' -f 1
}

call() {
  redis-cli -e -h "$host" -p "$port" --user "$admin" "$@"
}

redis() {
  call "$@" || fail 'Redis refused it; the log of the operation says why.'
}

# Users are in the server's memory. Where it has a file for them or for its settings, they outlive a restart.
keep_users() {
  { call acl save || call config rewrite; } >/dev/null 2>&1 ||
    echo 'The server has neither an aclfile nor a file of settings: the users are gone when it is restarted.' >&2
}

provision() {
  bundle-state set prefix "$prefix"
}

# Commands that show or change what belongs to others are left out, also where they name no key.
bind() {
  case $(bundle-input bindParameters.access 2>/dev/null || echo read-write) in
    read-only) commands='+@read +@connection +subscribe +psubscribe +unsubscribe +punsubscribe' ;;
    *) commands='+@all' ;;
  esac
  without='-@admin -@dangerous -select -scan -randomkey -dbsize -pubsub -script -function -fcall -fcall_ro'
  password=$(od -An -v -N24 -tx1 /dev/urandom | tr -d ' \n')
  # The server gets the hash of the password, and nobody else the password itself.
  # shellcheck disable=SC2086 # They are lists.
  redis acl setuser "$user" reset on "#$(hash "$password")" "~$prefix:*" "&$prefix:*" $commands $without
  keep_users
  bundle-credentials host="$host" port:="$port" user="$user" prefix="$prefix:"
  printf %s "$password" | bundle-credentials password
  case $host in *:*) address="[$host]" ;; *) address=$host ;; esac
  printf 'redis://%s:%s@%s:%s/0' "$user" "$password" "$address" "$port" | bundle-credentials uri
}

# Its connections are closed with it.
unbind() {
  redis acl deluser "$user"
  keep_users
}

# Bindings that failed may have left users. Keys can hold any bytes: they never leave the server.
deprovision() {
  bundle-progress 'deleting the keys'
  users=$(redis acl users)
  for user in $users; do
    case $user in "$prefix"-*) redis acl deluser "$user" ;; esac
  done
  keep_users
  cursor=0
  while :; do
    cursor=$(redis eval "
      local found = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', 1000)
      for _, key in ipairs(found[2]) do redis.call('UNLINK', key) end
      return found[1]" 0 "$cursor" "$prefix:*")
    [ "$cursor" != 0 ] || break
  done
}

host=$(secret redis_host '')
port=$(secret redis_port 6379)
admin=$(secret redis_user default)
REDISCLI_AUTH=$(secret redis_password '')
export REDISCLI_AUTH
[ -n "$host" ] || fail 'The operator has to name the server: the secret redis_host is missing.'

instance=$(bundle-input instance.id)
# A name that was given once stays, whatever a later version of this bundle would choose.
prefix=$(bundle-state get prefix 2>/dev/null || printf 'osb-%s' "$(hash "$instance" | cut -c 1-32)")
case $1 in
  provision | deprovision | bind | unbind) ;;
  *) exit 8 ;;
esac
answer=$(call ping 2>&1) || case $answer in
  *'Could not connect'* | *LOADING*)
    echo 'The Redis server does not answer.' >"$BUNDLE_OUTPUT/message"
    exit 75
    ;;
  *) fail 'Redis refused the login of the administrator.' ;;
esac
case $1 in
  bind | unbind) user=$prefix-$(hash "$(bundle-input binding.id)" | cut -c 1-32) ;;
esac
"$1"
