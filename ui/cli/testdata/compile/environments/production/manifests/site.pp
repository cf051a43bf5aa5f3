node default { include ntp }
